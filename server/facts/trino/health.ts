import { readTrinoAddress } from './address.ts';

/** Throws if Trino does not respond, or does not accept queries yet. Needs no permissions. */
export async function checkTrino(address: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(`${readTrinoAddress(address).origin}/v1/info`, { signal });
  const info = response.ok ? ((await response.json()) as { starting?: boolean }) : undefined;
  if (info?.starting !== false) throw new Error(info ? 'Trino is starting.' : `Trino answers ${response.status}.`);
}
