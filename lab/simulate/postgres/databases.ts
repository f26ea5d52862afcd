import pg from 'pg';
import { query } from '../../../test/cluster/databases.ts';
import { bundleDriver, type Driver } from '../bundle.ts';

/** `clock_timestamp()` is of the simulation, and who waits for a lock in a circle is told at once. */
const OPTIONS = [
  'search_path=public,simulated,pg_catalog',
  'deadlock_timeout=1ms',
  'synchronous_commit=off',
  'jit=off',
];

/** What each database has beside the catalog. A sequence, because its value is seen at once, also in snapshots. */
const SIMULATED = `
create schema simulated;
create sequence simulated.clock minvalue 0;
create function simulated.clock_timestamp() returns timestamptz language sql volatile
  as $$ select to_timestamp(last_value / 1000.0) from simulated.clock $$;
create table simulated.publications (pid int not null);
create function simulated.publish() returns trigger language plpgsql
  as $$ begin insert into simulated.publications values (pg_backend_pid()); return null; end $$`;

/** Notes who publishes. */
const WATCH = `
create trigger simulated_publish after update on projects for each row
  when (old.facts_revision is distinct from new.facts_revision) execute function simulated.publish()`;

/** The databases of runs, on a server whose user is a superuser and needs no password. All are dropped in the end. */
export class Databases {
  readonly driver: Driver;
  readonly #address: string;
  readonly #admin: pg.Client;
  readonly #names = new Set<string>();

  private constructor(address: string, admin: pg.Client, driver: Driver) {
    this.#address = address;
    this.#admin = admin;
    this.driver = driver;
  }

  static async open(address: string): Promise<Databases> {
    const admin = new pg.Client({ connectionString: address });
    await admin.connect();
    const databases = new Databases(address, admin, await bundleDriver());
    await databases.create('base', 'template1');
    await query(databases.#addressOf('base'), SIMULATED);
    return databases;
  }

  /** Lets a database with the tables of a catalog note who publishes. */
  async watch(name: string): Promise<void> {
    await query(this.#addressOf(name), WATCH);
  }

  /** Makes a database as a copy of another one. Returns its address. */
  async create(name: string, template = nameOf('base')): Promise<string> {
    await this.#admin.query(`create database ${nameOf(name)} template ${template}`);
    this.#names.add(name);
    return this.#addressOf(name);
  }

  async drop(name: string): Promise<void> {
    await this.#admin.query(`drop database if exists ${nameOf(name)} with (force)`);
    this.#names.delete(name);
  }

  async close(): Promise<void> {
    for (const name of [...this.#names]) await this.drop(name);
    await this.#admin.end();
  }

  #addressOf(name: string): string {
    const url = new URL(this.#address);
    url.pathname = `/${nameOf(name)}`;
    url.searchParams.set('options', OPTIONS.map((option) => `-c ${option}`).join(' '));
    return url.href;
  }
}

/** Several processes use one server. */
export function nameOf(name: string): string {
  return `simulation_${process.pid}_${name}`;
}
