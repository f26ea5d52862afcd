/** Messages of a server process to the first. */
export type FromServer =
  | { readonly kind: 'ready'; readonly address: string }
  /** It could not start; the reason is for the operator. */
  | { readonly kind: 'failed'; readonly reason: string };

/** The environment variable with the number of a server process, from 1. */
export const NUMBER = 'SERVER_PROCESS';

/** Tells a server process to end. */
export interface End {
  readonly kind: 'end';
  /** Whether other processes go on and take its clients. */
  readonly isReplaced: boolean;
}

/** Whether a message of another process has this kind. */
export function isOfKind<Message extends { readonly kind: string }>(
  message: unknown,
  kind: Message['kind'],
): message is Message {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === kind;
}
