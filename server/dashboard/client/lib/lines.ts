/** What a further line of a chart is about. */
export interface LineSubject {
  readonly of: 'brand' | 'non_brand' | 'query' | 'page' | 'group';
  /** The query or page, or the id of the group. */
  readonly text?: string;
}

export const SUBJECT_NAMES: Readonly<Record<LineSubject['of'], string>> = {
  brand: 'Brand',
  non_brand: 'Not brand',
  query: 'A query',
  page: 'A page',
  group: 'A group',
};

/** The lines of an address, one on each line: `brand`, `query:walking boots`. What is none is left out. */
export function parseLines(text: string): LineSubject[] {
  return text.split('\n').flatMap((line): LineSubject[] => {
    const [, of = '', name] = /^([a-z_]+)(?::(.+))?$/.exec(line) ?? [];
    if (of === 'brand' || of === 'non_brand') return [{ of }];
    const isNamed = of === 'query' || of === 'page' || of === 'group';
    return isNamed && name !== undefined ? [{ of, text: name }] : [];
  });
}

export function formatLine({ of, text }: LineSubject): string {
  return text === undefined ? of : `${of}:${text}`;
}
