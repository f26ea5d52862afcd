// Writes the OpenAPI document that the server would serve to openapi.json, for the linter.
import { writeFileSync } from 'node:fs';
import { openapiDocument } from './openapi-document.ts';

writeFileSync('openapi.json', JSON.stringify(await openapiDocument(), null, 2));
