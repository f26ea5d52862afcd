export { copyCatalog, readCopy } from './sqlite/catalog-copy.ts';
