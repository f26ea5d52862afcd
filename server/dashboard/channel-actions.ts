import { type Channel, findChannel } from '../catalog/channels.ts';
import { listDeliveries } from '../catalog/deliveries.ts';
import { shownDelivery } from '../channels/channels.ts';
import { notFound } from '../domain/errors.ts';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import type { AddAction, Wanted } from './actions.ts';

const MAX_DELIVERIES = 200;

/** What was sent to a channel. */
export function addChannelActions(add: AddAction, { catalog }: Stores): void {
  add({
    method: 'GET',
    url: '/channels/:channel/deliveries',
    roles: MANAGERS,
    find: async ({ workspace, ids }: Wanted): Promise<Channel> => {
      const channel = await findChannel(catalog, ids['channel']!);
      if (channel?.workspace !== workspace) throw notFound('The workspace has no such channel.');
      return channel;
    },
    run: async ({ found }) => ({
      deliveries: (await listDeliveries(catalog, found.id, MAX_DELIVERIES)).map(shownDelivery),
    }),
  });
}
