import type { TSchema } from 'typebox';
import { routeOf } from '../../server/dashboard/operation-routes.ts';
import type { Operation } from '../../server/operations/operation.ts';

/** A schema of a field, as JSON. */
interface Field {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Field[];
  readonly items?: Field;
  readonly minimum?: number;
  readonly maximum?: number;
}

const HEADERS = { version: '`If-Match`', submission: '`Idempotency-Key`' };

/** What members do, for docs/changes.md: a section for each noun. Throws for a field without a description. */
export function operationsMarkdown(operations: readonly Operation<never>[]): string {
  const titleOf = ({ noun: { name, plural } }: Operation<never>): string =>
    (plural ?? name).split('/').toReversed().join(' ').replaceAll('-', ' ');
  return [...Map.groupBy(operations, titleOf)].map(([title, of]) => section(title, of)).join('\n\n');
}

function section(title: string, operations: readonly Operation<never>[]): string {
  const rows = operations.map((operation) => {
    const { method, url } = routeOf(operation);
    const { names, roles, audit, isOfAuthor } = operation;
    const who = roles.map((role) => (isOfAuthor && role === 'member' ? 'member: own' : role)).join(', ');
    return `| \`${method} ${url}\` | ${names === null ? '' : HEADERS[names]} | ${who} | ${audit === null ? '' : `\`${audit}\``} |`;
  });
  const fields = operations.flatMap((operation) =>
    Object.entries(operation.input?.properties ?? {}).map(([name, schema]) => fieldRow(operation, name, schema)),
  );
  const table = fields.length === 0 ? [] : ['', '| field of | field | | |', '| --- | --- | --- | --- |', ...fields];
  const [first = '', ...rest] = title;
  return [
    `## ${first.toUpperCase()}${rest.join('')}`,
    '',
    '| request | names | who | audit trail |',
    '| --- | --- | --- | --- |',
    ...rows,
    ...table,
  ].join('\n');
}

function fieldRow(operation: Operation<never>, name: string, schema: TSchema): string {
  const field = schema as Field;
  if (field.description === undefined) throw new Error(`${operation.noun.name}: ${name} has no description.`);
  const isRequired = (operation.input as { readonly required?: readonly string[] }).required?.includes(name) === true;
  const { method } = routeOf(operation);
  const doing = operation.act ?? method;
  return `| ${doing} | \`${name}\`${isRequired ? '' : ', optional'} | ${kindOf(field)} | ${field.description} |`;
}

function kindOf({ type, enum: words, anyOf, items, minimum, maximum }: Field): string {
  if (anyOf !== undefined) return anyOf.map(kindOf).join(' or ');
  if (words !== undefined) return words.join(', ');
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (type === 'array') return `list of ${items === undefined ? 'values' : kindOf(items)}`;
  return type ?? 'value';
}
