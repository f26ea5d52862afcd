import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import { previewBrandTerms } from '../presets/previews.ts';
import { brandTermsVersion, checkBrandTerms, setBrandTerms } from '../projects/brand-terms.ts';
import type { AddAction } from './actions.ts';
import { previewOf } from './group-actions.ts';

const body = Type.Object({ terms: Type.Array(Type.Unknown()) }, { additionalProperties: false });

/** Brand terms of a project: owners and admins set them, and look first which queries they change. */
export function addBrandActions(add: AddAction, context: Context, stores: Stores): void {
  add({
    method: 'PUT',
    edits: true,
    url: '/projects/:id/brand-terms',
    roles: MANAGERS,
    body,
    run: async ({ project, body: sent, by, at, version }) => {
      const terms = checkBrandTerms(sent.terms, 'terms');
      await setBrandTerms(stores.catalog, project!.id, terms, { by, at, version });
      return { terms, version: brandTermsVersion(terms) };
    },
  });
  add({
    method: 'POST',
    creates: false,
    url: '/projects/:id/brand-terms/preview',
    roles: MANAGERS,
    body,
    run: async (call) => previewBrandTerms(context, previewOf(call), checkBrandTerms(call.body.terms, 'terms')),
  });
}
