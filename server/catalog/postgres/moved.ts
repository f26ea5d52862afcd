import { sqlText } from '../../runtime/sql.ts';
import { type Client, poolOf } from './pool.ts';

const NAME_PLACE = 'insert into catalog_was_copied.copy (place) values ($1)';
const ALLOW_CHANGES = 'drop schema catalog_was_copied cascade';

/**
 * Makes the catalog of a database read-only for all processes, because a copy would lack later changes. Waits for
 * running transactions. Returns a function that undoes this.
 * @param to name of the copy, without a password
 */
export async function stopChanges(url: string, to: string): Promise<() => Promise<void>> {
  const wasStopped = await withClient(url, async (client) => {
    const { rows } = await client.query("select 1 from pg_namespace where nspname = 'catalog_was_copied'");
    if (rows.length > 0) return true;
    await client.query('begin');
    await client.query(sqlText('catalog/postgres/database.stop_changes'));
    await client.query(NAME_PLACE, [to]);
    await client.query('commit');
    return false;
  });
  return async () => {
    if (!wasStopped) await withClient(url, (client) => client.query(ALLOW_CHANGES));
  };
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const pool = poolOf(url);
  try {
    return await pool.use(work);
  } finally {
    await pool.close();
  }
}
