// The import from the Markdown package. `npm run build` bundles it, because the package is a development dependency.
export { Marked } from 'marked';
