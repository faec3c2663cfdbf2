import { expect, it } from 'vitest';
import type { Api } from '../../src/routing/catalog.ts';
import { unpricedRoutes } from '../../src/routing/unpriced-routes.ts';
import { FREE } from '../../src/usage/usage.ts';
import type { Pricing } from '../../src/usage/usage.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';

const api = (name: string, pricing: Pricing): [string, Api] => [
  name,
  {
    name,
    origin: 'http://127.0.0.1:9',
    basePath: '',
    baseQuery: '',
    auth: { type: 'none' },
    secret: undefined,
    headers: {},
    methods: ['GET'],
    paths: [],
    responseHeaders: [],
    usage: [],
    pricing,
    timeouts: { firstContent: 1, wholeAnswer: 1, idle: 1, total: 1 },
  },
];

it('names routes and APIs whose price is unknown, each in the order of their names', () => {
  const { models } = fakeCatalog(
    fakeModel('acme/slow', [fakeRoute('main'), fakeRoute('priced', { pricing: { input: 1 } })]),
    fakeModel('acme/fast', [fakeRoute('spare'), fakeRoute('free', { pricing: FREE })]),
    fakeModel('acme/none', []),
  );
  const apis = new Map([api('weather', {}), api('paid', FREE), api('maps', {})]);
  expect(unpricedRoutes({ models, apis })).toEqual([
    'acme/fast (spare)',
    'acme/slow (main)',
    'API maps',
    'API weather',
  ]);
});

it('names nothing where every price is known', () => {
  const { models } = fakeCatalog(fakeModel('a', [fakeRoute('main', { pricing: FREE })]));
  expect(unpricedRoutes({ models, apis: new Map([api('paid', { perCall: 1 })]) })).toEqual([]);
});
