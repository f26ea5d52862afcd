import type { Connection } from '../catalog/connections.ts';
import { matchProperty } from '../domain/properties.ts';
import { ProviderFailure, sentenceOf } from '../providers/failures.ts';
import type { Providers } from '../providers/providers.ts';
import { type Properties, readProperties } from '../providers/search-console/properties.ts';
import { missingAccess, missingFor } from '../providers/search-console/setup-steps.ts';

/** The properties that credentials can read. Throws with instructions if they cannot be listed. */
export async function listProperties(providers: Providers, connection: Connection): Promise<Properties> {
  try {
    return await readProperties(providers, connection);
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    const advice = missingFor(error, connection)?.advice;
    const message = `The properties cannot be read: ${sentenceOf(error)}${advice === undefined ? '' : `\n${advice}`}`;
    throw new Error(message, { cause: error });
  }
}

/** The readable property that matches a text. Throws with similar ones if there is not exactly one match. */
export async function findProperty(providers: Providers, connection: Connection, text: string): Promise<string> {
  const properties = await listProperties(providers, connection);
  const { property, similar } = matchProperty(
    text,
    properties.readable.map((site) => site.property),
  );
  if (property !== undefined) return property;
  const { advice } = missingAccess(connection, text, properties);
  const others = similar.length > 1 ? `\nThe most similar that it can read: ${similar.join(', ')}.` : '';
  throw new Error(`There is no readable property '${text}'. ${advice}${others}`);
}
