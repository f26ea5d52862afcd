import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { TAGS } from '../../presets/preset.ts';
import { addDocsPage } from './docs-page.ts';
import { addGuide } from './guide.ts';
import { tidyDocument } from './openapi-document.ts';

const DESCRIPTION = `Read-only access to search performance: clicks, impressions, ctr and position of projects, tracked
keywords, the whole site, breakdowns, pages and queries, with alerts and notes.

Every request needs a key, sent as \`Authorization: Bearer KEY\`. A key reads every project of its workspace and may send
120 requests per minute. Ranges are inclusive and span at most 486 days. Unknown parameters are ignored; a known one that is
repeated, empty or malformed is an error. Every error is \`{ "error": { "code", "message" } }\`.`;

/** Serves OpenAPI 3.1, generated from the route schemas, at `/openapi.json`, a page for it at `/docs`, and the guide. */
export async function addDocumentation(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    transformObject: (document) => tidyDocument('openapiObject' in document ? document.openapiObject : {}),
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Ordinate',
        version: '1',
        description: DESCRIPTION,
      },
      tags: [...TAGS],
      servers: [{ url: '/', description: 'This service' }],
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'An API key: ord_live_ and 32 letters and digits.' },
        },
      },
    },
  });
  await addDocsPage(app);
  await addGuide(app);
}
