import { keepCopy } from '../catalog/store.ts';
import type { Job } from './job.ts';

/** Copies the catalog beside the facts after changes, for a lost one. PostgreSQL has its own backups. */
export const copyCatalog: Job = {
  name: 'copy-catalog',
  isQuiet: true,
  every: 60_000,
  jitter: 0,
  async run({ settings, now }) {
    if (settings.catalogUrl !== '') return {};
    const copy = await keepCopy(settings.dataFolder, { inThread: true, now });
    return copy === undefined ? {} : { changes: copy.changes };
  },
};
