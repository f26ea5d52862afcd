import type { Grouping } from './site.ts';

export const shopGrouping: Grouping = {
  groups: [
    {
      name: 'Ranges',
      pinned: true,
      children: [
        {
          name: 'Walking',
          children: [
            { name: 'Boots and shoes', members: /boots|shoes|gaiters|socks/ },
            { name: 'Poles and rucksacks', members: /poles|rucksacks|daypacks|hydration/ },
          ],
        },
        {
          name: 'Camping',
          children: [
            { name: 'Tents and sleep', members: /tent|sleeping|hammocks/ },
            { name: 'Camp kitchen', members: /stoves|filters|chairs/ },
          ],
        },
        { name: 'Clothing', members: /jackets|layer|trousers|gloves/ },
      ],
    },
    {
      name: 'Search positions',
      children: [
        { name: 'Top three', rule: { match: 'all', conditions: [{ field: 'position', op: 'lte', value: 3 }] } },
        {
          name: 'Within reach of the first page',
          rule: {
            match: 'all',
            conditions: [
              { field: 'position', op: 'gt', value: 10 },
              { field: 'position', op: 'lte', value: 20 },
              { field: 'impressions', op: 'gte', value: 500 },
            ],
          },
        },
        {
          name: 'Seen but not clicked',
          rule: {
            match: 'all',
            conditions: [
              { field: 'ctr', op: 'lt', value: 0.02 },
              { field: 'position', op: 'lte', value: 12 },
            ],
          },
        },
      ],
    },
    {
      name: 'Brand',
      pinned: true,
      rule: { match: 'all', conditions: [{ field: 'query', op: 'contains', value: 'fellwick' }] },
    },
    {
      name: 'Ready to buy',
      rule: { match: 'all', conditions: [{ field: 'intent', op: 'equals', value: 'transactional' }] },
    },
    { name: 'Most clicks', rule: { match: 'all', conditions: [{ field: 'clicks', op: 'gte', value: 400 }] } },
    {
      name: 'Questions',
      rule: { match: 'all', conditions: [{ field: 'query', op: 'matches', value: '^(how|what|is)\\b' }] },
    },
    { name: 'Campaign range', members: /snowshoes|gloves|down|base layers|head torches|winter/ },
  ],
  pageGroups: [
    { name: 'Product ranges', rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/shop/' }] } },
    {
      name: 'Women and men',
      rule: {
        match: 'any',
        conditions: [
          { op: 'starts_with', value: '/womens/' },
          { op: 'starts_with', value: '/mens/' },
        ],
      },
    },
    {
      name: 'Buying advice',
      rule: {
        match: 'all',
        conditions: [
          { op: 'starts_with', value: '/advice/' },
          { op: 'contains', value: 'best-' },
        ],
      },
    },
    {
      name: 'Help and stores',
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/help/' }] },
      pinned: ['/stores/', '/about/', '/advice/size-guide/'],
    },
    {
      name: 'Boots',
      rule: { match: 'any', conditions: [{ op: 'matches', value: 'boots/?$' }] },
      pinned: ['/advice/breaking-in-boots/'],
    },
  ],
};
