import { recordAudit } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { requireProject } from '../catalog/projects.ts';
import { type BrandTerm, brandColumns, MAX_EXPRESSION, wordExpression } from '../domain/brand-terms.ts';
import { invalidRequest } from '../domain/errors.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import { changeEntities, entityRow } from '../load/entities.ts';
import type { Row } from '../load/publish.ts';
import type { Editor } from './notes.ts';

const MAX_TERMS = 100;
const MAX_TEXT = 100;

/** Brand terms as they were sent, each once. Throws `invalid_request` with the name of the field. */
export function checkBrandTerms(sent: readonly unknown[], field: string): BrandTerm[] {
  const terms = new Map<string, BrandTerm>();
  for (const one of sent) {
    const term = termOf(one);
    if (term === undefined || sent.length > MAX_TERMS) {
      throw invalidRequest(
        `'${field}' must be at most ${MAX_TERMS} texts of 1 to ${MAX_TEXT} characters, or {"text", "match": "word"} for whole words.`,
      );
    }
    if (typeof term !== 'string' && wordExpression(term).length > MAX_EXPRESSION) {
      throw invalidRequest(`'${field}': '${term.text}' is too long to be found as whole words.`);
    }
    terms.set(JSON.stringify(term), term);
  }
  return [...terms.values()];
}

function termOf(sent: unknown): BrandTerm | undefined {
  if (typeof sent === 'string') return isTerm(sent) ? sent.trim() : undefined;
  if (typeof sent !== 'object' || sent === null || Object.keys(sent).sort().join() !== 'match,text') return undefined;
  const { text, match } = sent as Record<string, unknown>;
  if (match !== 'word' || typeof text !== 'string' || !isTerm(text) || !/[\p{L}\p{N}]/u.test(text)) return undefined;
  return { text: text.trim(), match };
}

const isTerm = (text: string): boolean =>
  text.trim() !== '' && text.trim().length <= MAX_TEXT && !/\p{Cc}|\p{Cs}/u.test(text);

/** Identifies the brand terms of a project. */
export function brandTermsVersion(terms: readonly BrandTerm[]): string {
  return versionOf(terms);
}

/** Replaces the brand terms of a project. Throws `outdated`. The next sync fetches the split of its days again. */
export function setBrandTerms(
  catalog: Catalog,
  project: string,
  terms: readonly BrandTerm[],
  { by: actor, at, version }: Editor,
): Promise<void> {
  return changeEntities(catalog, async ({ tx, put }) => {
    const { workspaceId: workspace, brandTerms } = await requireProject(tx, project);
    requireVersion(brandTermsVersion(brandTerms), version);
    await put('projects', [{ ...(await entityRow(tx, 'projects', project)), ...brandRow(terms) }]);
    await recordAudit(tx, { at, workspace, actor, action: 'brand_terms.set', subject: project, details: { terms } });
  });
}

/** Terms as the catalog stores them. */
export function brandRow(terms: readonly BrandTerm[]): Row {
  const { brand_terms: texts, brand_words: words } = brandColumns(terms);
  return { brand_terms: JSON.stringify(texts), brand_words: words && JSON.stringify(words) };
}
