import type { Grouping } from './site.ts';

export const recipesGrouping: Grouping = {
  groups: [
    {
      name: 'Courses',
      pinned: true,
      children: [
        { name: 'Soups', members: /soup|gazpacho/ },
        { name: 'Mains', members: /stew|casserole|curry|pie|risotto|lasagne|stroganoff|roast$|macaroni/ },
        {
          name: 'Baking',
          children: [
            { name: 'Cakes and puddings', members: /cake|crumble|gingerbread|pudding|brownies/ },
            { name: 'Bread', members: /bread\b|focaccia|sourdough/ },
          ],
        },
        { name: 'Breakfast', members: /pancakes|oats|granola/ },
      ],
    },
    {
      name: 'Ways of cooking',
      children: [
        {
          name: 'Vegan',
          rule: {
            match: 'any',
            conditions: [
              { field: 'query', op: 'starts_with', value: 'vegan' },
              { field: 'query', op: 'ends_with', value: 'without eggs' },
            ],
          },
        },
        {
          name: 'Slow cooker',
          rule: { match: 'all', conditions: [{ field: 'query', op: 'contains', value: 'slow cooker' }] },
        },
      ],
    },
    {
      name: 'Brand',
      pinned: true,
      rule: {
        match: 'any',
        conditions: [
          { field: 'intent', op: 'equals', value: 'navigational' },
          { field: 'query', op: 'contains', value: 'ember' },
        ],
      },
    },
    {
      name: 'First place and just below',
      rule: {
        match: 'all',
        conditions: [
          { field: 'position', op: 'lte', value: 2 },
          { field: 'clicks', op: 'gte', value: 100 },
        ],
      },
    },
    {
      name: 'Much seen, rarely clicked',
      rule: {
        match: 'all',
        conditions: [
          { field: 'impressions', op: 'gt', value: 2000 },
          { field: 'ctr', op: 'lte', value: 0.02 },
        ],
      },
    },
    {
      name: 'Questions',
      rule: {
        match: 'all',
        conditions: [
          { field: 'query', op: 'matches', value: '^(how|what|can)\\b' },
          { field: 'query', op: 'not_contains', value: 'oat and ember' },
        ],
      },
    },
    { name: 'Added by hand', rule: { match: 'all', conditions: [{ field: 'source', op: 'equals', value: 'manual' }] } },
    { name: 'Christmas table', members: /christmas|nut roast|gingerbread|red cabbage|roast potatoes/ },
  ],
  pageGroups: [
    { name: 'Recipes', rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/recipes/' }] } },
    { name: 'Vegan recipes', rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/vegan/' }] } },
    {
      name: 'Kitchen notes',
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/kitchen-notes/' }] },
      pinned: ['/meal-planner/'],
    },
    {
      name: 'Collections',
      rule: {
        match: 'any',
        conditions: [
          { op: 'starts_with', value: '/collections/' },
          { op: 'equals', value: '/recipes/' },
        ],
      },
    },
    {
      name: 'Soups and stews',
      rule: {
        match: 'any',
        conditions: [
          { op: 'ends_with', value: 'soup/' },
          { op: 'ends_with', value: 'stew/' },
        ],
      },
      pinned: ['/recipes/gazpacho/'],
    },
  ],
};
