import { hash } from 'node:crypto';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: { readonly 200: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> } };
}
export interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The document without examples, which clients do not need. */
export function withoutExamples(document: object): Document {
  const text = JSON.stringify(document, (name, value: unknown) => (name === 'examples' ? undefined : value));
  return JSON.parse(text) as Document;
}

/** `client/operations.ts`: the parts of the document that the client needs at run time. */
export function operationsSource(document: Document): string {
  const paths: Record<string, string> = {};
  const rows: Record<string, string> = {};
  for (const [path, { get }] of Object.entries(document.paths)) {
    const schema = get?.responses[200].content['application/json']?.schema;
    if (get === undefined || schema === undefined) continue;
    paths[get.operationId] = path;
    if (get.parameters?.some(({ name }) => name === 'offset')) rows[get.operationId] = rowsOf(document, schema);
  }
  return `// Written by \`npm run client\`; do not edit.

/** Of the document that the files of this folder were made from: a test tells when they are outdated. */
export const DOCUMENT = '${hash('sha256', JSON.stringify(document))}';

/** The path of each operation. */
export const PATHS = ${literal(paths)} as const;

/** The name of the list of rows in answers with pages. */
export const ROWS = ${literal(rows)} as const;
`;
}

/** The one property of an answer that is a list. */
function rowsOf({ components }: Document, schema: Schema): string {
  const { properties = {} } = components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const [name, ...others] = Object.keys(properties).filter((property) => properties[property]?.type === 'array');
  if (name === undefined || others.length > 0)
    throw new Error(`An answer in pages must have one list: ${schema.$ref}.`);
  return name;
}

function literal(entries: Readonly<Record<string, string>>): string {
  const lines = Object.entries(entries).map(([name, text]) => `  ${name}: '${text}',\n`);
  return `{\n${lines.join('')}}`;
}
