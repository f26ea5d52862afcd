export { type CatalogCopy, copyCatalog, readCopy } from './sqlite/catalog-copy.ts';
