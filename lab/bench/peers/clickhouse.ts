import { join } from 'node:path';
import { sqlText } from '../../../server/runtime/sql.ts';
import { timed } from '../rounds.ts';
import { makeOnce, stampOf } from '../stamp.ts';
import { optionalPackage } from './optional.ts';
import type { Peer, PeerSource } from './peer.ts';

/** The part of the package chdb that the benchmark uses. */
interface Chdb {
  readonly Session: new (folder: string) => ChdbSession;
}

interface ChdbSession {
  query(text: string): string;
  queryBindAsync(
    text: string,
    values: Readonly<Record<string, string>>,
    options?: { format: string },
  ): Promise<{ bytes(): Uint8Array }>;
}

/** ClickHouse in this process over a copy of the plain daily file; undefined if it is not installed. */
export async function openClickHouse({ folder, stamp, file, report }: PeerSource): Promise<Peer | undefined> {
  const chdb = optionalPackage('chdb') as Chdb | undefined;
  if (chdb === undefined) {
    report('ClickHouse is left out; install it with: npm install --no-save chdb');
    return undefined;
  }
  const stored = join(folder, 'clickhouse');
  let session: ChdbSession | undefined;
  await makeOnce(stored, stampOf({ stamp }, ['sql/bench/clickhouse/*.sql']), async () => {
    report('copying the large project into ClickHouse');
    session = new chdb.Session(stored);
    session.query(sqlText('bench/clickhouse/table'));
    await session.queryBindAsync(sqlText('bench/clickhouse/copy'), { file });
    session.query(sqlText('bench/clickhouse/merge'));
  });
  const open = session ?? new chdb.Session(stored);
  return {
    name: 'clickhouse',
    totals: (from, to) =>
      timed(async () => {
        const result = await open.queryBindAsync(
          sqlText('bench/clickhouse/totals'),
          { from, to },
          { format: 'RowBinary' },
        );
        return result.bytes();
      }),
    close: async () => {},
  };
}
