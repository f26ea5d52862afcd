import type { Connection } from '../../catalog/connections.ts';
import { matchProperty } from '../../domain/properties.ts';
import { type MissingStep, ProviderFailure } from '../failures.ts';
import { readCredentials } from '../google/credentials.ts';
import type { ProviderContext } from '../provider.ts';
import { type Properties, readProperties } from './properties.ts';

const CREDENTIALS =
  'Create a key for the service account (Google Cloud console: IAM & Admin > Service Accounts > Keys), save its JSON file where this machine can read it, and set the connection again; the grant of an authorised user needs the scope webmasters.readonly, and a new sign-in once it has expired.';
const GRANT = 'An owner must connect the account again: the page Connect of the dashboard.';
const API =
  'Enable the Google Search Console API in the Google Cloud project of the credentials (APIs & Services > Library), wait a few minutes and try again.';

/** Finds the missing setup step behind a failure of the reporting API, if any. */
export async function findMissingStep(
  context: ProviderContext,
  connection: Connection,
  property: string,
  failure: ProviderFailure,
): Promise<MissingStep | undefined> {
  if (failure.step !== undefined || failure.kind !== 'access-lost') return missingFor(failure, connection);
  try {
    return missingAccess(connection, property, await readProperties(context, connection));
  } catch (error) {
    if (error instanceof ProviderFailure) return missingFor(error, connection);
    throw error;
  }
}

/** The missing step that a failure identifies, if any. */
export function missingFor({ step }: ProviderFailure, { grant }: Pick<Connection, 'grant'>): MissingStep | undefined {
  if (step === undefined) return undefined;
  return { step, advice: step === 'api' ? API : grant === null ? CREDENTIALS : GRANT };
}

/** Why valid credentials cannot read a property. */
export function missingAccess(connection: Connection, property: string, properties: Properties): MissingStep {
  const account = accountOf(connection);
  const readable = properties.readable.map((site) => site.property);
  const add = `in Search Console, Settings > Users and permissions > Add user, with the permission Restricted or more`;
  const known = [...properties.readable, ...properties.unverified].find((site) => site.property === property);
  if (known !== undefined) {
    const advice = `${account} has the permission ${known.permission} on ${property}, which does not let it read the data. An owner must add it again: ${add}.`;
    return { step: 'permission', advice };
  }
  const { property: meant, similar } = matchProperty(property, readable);
  const nearest = meant ?? similar[0];
  if (nearest === undefined) {
    return {
      step: 'user',
      advice: `${account} can read no property at all. An owner must add it to ${property}: ${add}.`,
    };
  }
  const isSameSite = hostOf(nearest) === hostOf(property);
  return {
    step: isSameSite ? 'property' : 'user',
    advice: `${account} cannot read ${property}. Perhaps you meant ${nearest}? (sc-domain:… and https://…/ are different properties.) Otherwise an owner must add it: ${add}.`,
  };
}

function hostOf(property: string): string {
  return property
    .toLowerCase()
    .replace(/^(sc-domain:|https?:\/\/)/, '')
    .replace(/\/.*$/, '');
}

/** The account of the credentials. */
function accountOf({ credentials, grant }: Connection): string {
  if (grant !== null) return 'The connected account';
  if (credentials === null) return "The account of the environment's default credentials";
  const file = readCredentials(credentials);
  return file.type === 'service_account' ? `The service account ${file.email}` : 'The account that has signed in';
}
