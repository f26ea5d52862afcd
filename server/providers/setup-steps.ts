import type { Connection } from '../catalog/connections.ts';
import { matchProperty } from '../domain/properties.ts';
import { readCredentials } from './credentials.ts';
import { ProviderFailure, type SetupStep } from './failures.ts';
import { type Properties, readProperties } from './properties.ts';
import type { Providers } from './providers.ts';

/** A step on the provider's side that has not been taken, and how to take it. */
export interface MissingStep {
  readonly step: SetupStep;
  readonly advice: string;
}

const CREDENTIALS =
  'Make a key of the service account (Google Cloud console: IAM & Admin > Service Accounts > Keys), save its JSON file where this machine can read it, and set the connection again; the grant of an authorised user needs the scope webmasters.readonly, and a new sign-in once it has expired.';
const API =
  'Enable the Google Search Console API in the Google Cloud project of the credentials (APIs & Services > Library), wait some minutes and try again.';

/** Which step is missing where the reporting API gives nothing of a property; undefined where it is none of them. */
export async function findMissingStep(
  providers: Providers,
  connection: Connection,
  property: string,
  failure: ProviderFailure,
): Promise<MissingStep | undefined> {
  if (failure.step !== undefined || failure.kind !== 'access-lost') return missingFor(failure);
  try {
    return missingAccess(connection, property, await readProperties(providers, connection));
  } catch (error) {
    if (error instanceof ProviderFailure) return missingFor(error);
    throw error;
  }
}

/** What a failure says, with one full stop. */
export function sentenceOf({ message }: ProviderFailure): string {
  return `${message.replace(/\.$/, '')}.`;
}

/** The missing step that a failure tells by itself. */
export function missingFor({ step }: ProviderFailure): MissingStep | undefined {
  if (step === undefined) return undefined;
  return { step, advice: step === 'api' ? API : CREDENTIALS };
}

/** Why credentials that work do not give a property. */
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

/** Whose credentials they are. */
function accountOf({ credentials }: Connection): string {
  if (credentials === null) return "The account of the environment's default credentials";
  const file = readCredentials(credentials);
  return file.type === 'service_account' ? `The service account ${file.email}` : 'The account that has signed in';
}
