import { hash } from 'node:crypto';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: { readonly 200: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> } };
}
export interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation; readonly post?: Operation }>>;
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
  const posts: string[] = [];
  for (const [path, { get, post }] of Object.entries(document.paths)) {
    for (const operation of [get, post]) {
      const schema = operation?.responses[200].content['application/json']?.schema;
      if (operation === undefined || schema === undefined) continue;
      const { operationId, parameters = [], requestBody } = operation;
      paths[operationId] = path;
      const fields = requestBody && propertiesOf(document, requestBody.content['application/json']!.schema);
      if (fields !== undefined) posts.push(operationId);
      const names = [...parameters.map(({ name }) => name), ...Object.keys(fields ?? {})];
      if (names.includes('offset')) rows[operationId] = rowsOf(document, schema);
    }
  }
  return `// Written by \`npm run client\`; do not edit.

/** Of the document that the files of this folder were made from: a test tells when they are outdated. */
export const DOCUMENT = '${hash('sha256', JSON.stringify(document))}';

/** The path of each operation. */
export const PATHS = ${literal(paths)} as const;

/** The operations that are sent by POST, with a body. */
export const POSTS = ${JSON.stringify(posts).replaceAll('"', "'")} as const;

/** The name of the list of rows in answers with pages. */
export const ROWS = ${literal(rows)} as const;
`;
}

/** The property of an answer that is its list: `rows`, or the only one. */
function rowsOf(document: Document, schema: Schema): string {
  const properties = propertiesOf(document, schema);
  const lists = Object.keys(properties).filter((property) => properties[property]?.type === 'array');
  const name = lists.length > 1 ? lists.find((property) => property === 'rows') : lists[0];
  if (name === undefined) throw new Error(`An answer in pages must have one list, or one named rows: ${schema.$ref}.`);
  return name;
}

function propertiesOf({ components }: Document, schema: Schema): Readonly<Record<string, Schema>> {
  return (components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema).properties ?? {};
}

function literal(entries: Readonly<Record<string, string>>): string {
  const lines = Object.entries(entries).map(([name, text]) => `  ${name}: '${text}',\n`);
  return `{\n${lines.join('')}}`;
}
