// Writes the OpenAPI document of the server to openapi.json, for the linter.
import { writeFileSync } from 'node:fs';
import { openapiDocument } from './openapi-document.ts';

writeFileSync('openapi.json', JSON.stringify(await openapiDocument(), null, 2));
