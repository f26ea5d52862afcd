import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Test } from 'tap';

const { ORDINATE_TEST_POSTGRES } = process.env;

/** For tests that need a PostgreSQL server: `ORDINATE_TEST_POSTGRES` is the address of one whose user may create databases. */
export const skip = ORDINATE_TEST_POSTGRES ? false : 'ORDINATE_TEST_POSTGRES names no PostgreSQL';

/**
 * A new database on the server for tests, empty or a copy of another one, which is dropped after the test. Returns its
 * address.
 */
export async function newDatabase(t: Test, server = ORDINATE_TEST_POSTGRES!, template = 'template1'): Promise<string> {
  const name = `ordinate_test_${randomBytes(6).toString('hex')}`;
  await query(server, `create database ${name} template ${template}`);
  t.teardown(() => query(server, `drop database if exists ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs a statement on a connection of its own. */
export async function query<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
