import { dueDigests } from '../channels/due-digests.ts';
import type { Job } from './job.ts';

/** Writes the digests of periods that have ended, for channels that want them. */
export const writeDigests: Job = {
  name: 'write-digests',
  every: 300_000,
  jitter: 0.1,
  isQuiet: true,
  async run({ settings, catalog, log, now, report }, signal) {
    const due = await dueDigests(catalog, now());
    // DuckDB takes 100 MB, so it is loaded only if there is work.
    if (due.length === 0) return {};
    const [{ withPresets }, { writeDigest }] = await Promise.all([
      import('../presets/with-presets.ts'),
      import('../channels/digest.ts'),
    ]);
    let written = 0;
    const failures: unknown[] = [];
    // One thread, so that requests can use the others.
    await withPresets({ settings: { ...settings, threads: 1 }, catalog, log, now }, async (sources) => {
      for (const [index, digest] of due.entries()) {
        signal.throwIfAborted();
        report(`digest ${index + 1} of ${due.length}`);
        try {
          if (await writeDigest(sources, digest, signal)) written++;
        } catch (error) {
          signal.throwIfAborted();
          failures.push(error);
          log.error({ err: error, channel: digest.channel.id }, 'could not write the digest of a channel');
        }
      }
    });
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${due.length} digests failed.`);
    return { written };
  },
};
