import { matchProperty } from '../domain/properties.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { ImportRefused } from '../load/import-rows.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { SourceFile } from './files.ts';

/** File name of an export of the user interface: `https___example.com_-Performance-on-Search-2026-03-01.zip`. */
const EXPORT_NAME = /^(.+?)-Performance-on-/;

/** Refuses an export whose folder or archive names another property. */
export function refuseOtherProperty(files: readonly SourceFile[], property: string): void {
  const written = (property.startsWith('sc-domain:') ? property.slice('sc-domain:'.length) : property).replaceAll(
    /[^\w.-]/g,
    '_',
  );
  for (const { group } of files) {
    const [, named] = EXPORT_NAME.exec(group.split('/').at(-1) ?? '') ?? [];
    if (named === undefined || named.toLowerCase() === written.toLowerCase()) continue;
    throw new ImportRefused(
      `'${group}' is an export of '${named}', not of '${property}': name its property, or add --force to import it as rows of '${property}'.`,
    );
  }
}

/** Whether a text names the property, as connectors write it. */
export function isSameProperty(text: string, property: string): boolean {
  return text === property || matchProperty(text, [property]).property === property;
}

/** Refuses staged tables with pages of another property. */
export async function refuseOtherPages(
  session: Session,
  tables: readonly { readonly file: SourceFile; readonly staged: string }[],
  property: string,
): Promise<void> {
  const { condition, parameters } = pageCondition(property);
  for (const { file, staged } of tables) {
    const text = sqlTemplate('import/other_pages', { condition });
    const [other] = await session.rows<{ page: string; pages: number }>(text, { ...parameters, file: staged });
    if (other === undefined) continue;
    throw new ImportRefused(
      `'${file.name}' has ${other.pages} rows of pages that are not of '${property}', such as '${other.page}': name their property, or add --force.`,
    );
  }
}

/** SQL condition of pages that do not belong to a property, over `$host` or `$prefix`. */
function pageCondition(property: string): { condition: string; parameters: Record<string, string> } {
  if (!property.startsWith('sc-domain:')) {
    return { condition: 'not starts_with(lower(page), lower($prefix))', parameters: { prefix: property } };
  }
  const host = "regexp_extract(lower(page), '^https?://([^/:?#]+)', 1)";
  const parameters = { host: property.slice('sc-domain:'.length).toLowerCase() };
  return { condition: `${host} <> $host and not ends_with(${host}, '.' || $host)`, parameters };
}
