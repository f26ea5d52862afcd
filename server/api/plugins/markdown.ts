import type { MarkedExtension, Tokens } from 'marked';

/** A page of the guide as HTML. */
export interface GuidePage {
  /** Its first heading, as HTML. */
  readonly title: string;
  readonly body: string;
}

/**
 * Renders a Markdown file of the guide. Raw HTML is left out, headings get ids, and tables can be scrolled.
 * @param addressOf the address of another page, by the name of its file
 */
export async function renderMarkdown(text: string, addressOf: (name: string) => string): Promise<GuidePage> {
  // Imported on the first visit.
  const { Marked } = await import('./marked.ts');
  let title = '';
  const rendering: MarkedExtension = {
    renderer: {
      html: () => '',
      heading({ tokens, depth, text: heading }: Tokens.Heading) {
        const content = this.parser.parseInline(tokens);
        if (depth === 1) title ||= content;
        return `<h${depth} id="${slugOf(heading)}">${content}</h${depth}>\n`;
      },
    },
    walkTokens: (token) => {
      if (token.type === 'link') (token as Tokens.Link).href = linkTarget((token as Tokens.Link).href, addressOf);
    },
    hooks: {
      postprocess: (html) =>
        html.replaceAll('<table>', '<div class="table"><table>').replaceAll('</table>', '</table></div>'),
    },
  };
  const body = await new Marked(rendering).parse(text, { async: true });
  return { title, body };
}

/** Resolves links such as `notebooks.md#pandas` to pages of the guide; other links are unchanged. */
function linkTarget(href: string, addressOf: (name: string) => string): string {
  const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return name === undefined ? href : addressOf(name) + anchor;
}

function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');
}
