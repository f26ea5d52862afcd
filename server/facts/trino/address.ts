/** The parts of an address of Trino: `http://USER:PASSWORD@HOST:PORT/CATALOG/SCHEMA`. */
export interface TrinoAddress {
  readonly origin: string;
  readonly user: string;
  /** Empty for none. */
  readonly password: string;
  readonly catalog: string;
  readonly schema: string;
}

/** @param address as the setting has it; empty for the defaults alone */
export function readTrinoAddress(address: string): TrinoAddress {
  const { origin, username, password, pathname } = new URL(address || 'http://127.0.0.1:8080');
  const [, catalog, schema] = pathname.split('/');
  return {
    origin,
    user: decodeURIComponent(username) || 'ordinate',
    password: decodeURIComponent(password),
    catalog: catalog || 'hive',
    schema: schema || 'ordinate',
  };
}
