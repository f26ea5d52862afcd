import { Type } from 'typebox';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import { requestSync } from '../projects/request-sync.ts';
import type { AddAction } from './actions.ts';

/** `POST /app/api/projects/:id/sync`: owners and admins have a project synced now, by background jobs. */
export function addSyncActions(add: AddAction, stores: Stores): void {
  add({
    method: 'POST',
    creates: false,
    url: '/projects/:id/sync',
    roles: MANAGERS,
    status: 202,
    body: Type.Object({}, { additionalProperties: false }),
    isBodyOptional: true,
    run: async ({ project, by, at }) => {
      await requestSync(stores, project!, { by, at });
      return {};
    },
  });
}
