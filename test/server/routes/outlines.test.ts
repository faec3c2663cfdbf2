import { describe, expect, it } from 'vitest';
import type {
  OrganizationApi,
  ResourceDefinition,
} from '../../../src/resources/store/define-resource.ts';
import { organization } from '../../../src/resources/kinds/organization.ts';
import {
  adminKindRoutes,
  ACCOUNT_ROUTES,
  DEPLOYMENT_ROUTES,
  organizationKindRoutes,
  REPORT_ROUTES,
  RUN_ROUTES,
  SERVICE_ROUTES,
  SESSION_ROUTES,
  SSO_ROUTES,
  WEBHOOK_ROUTES,
} from '../../../src/server/routes/outlines.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const all = (kind: string) => Object.fromEntries(METHODS.map((method) => [method, kind]));

/** A kind that organizations reach below `/v1`. */
const kindWith = (api: Partial<OrganizationApi>): ResourceDefinition => ({
  ...organization,
  kind: 'thing',
  api: { path: '/v1/things', scope: 'agents', hidden: [], ...api },
});

describe('the routes of kinds', () => {
  it('take every method at the collection and below it', () => {
    expect(adminKindRoutes([organization])).toEqual(
      ['/admin/v1/organizations', '/admin/v1/organizations/**'].map((path) => ({
        path,
        envelope: 'resource',
        methods: all('organization'),
      })),
    );
  });

  it('of an organization are those of kinds that it reaches', () => {
    expect(organizationKindRoutes([organization])).toEqual([]);
    expect(organizationKindRoutes([organization, kindWith({})])).toEqual(
      ['/v1/things', '/v1/things/**'].map((path) => ({
        path,
        envelope: 'resource',
        methods: all('thing'),
      })),
    );
  });

  it('tell of errors in the shape of the client where a kind has several', () => {
    const dialects = {
      all: [],
      of: (headers: object) => ({ envelope: 'x-chat' in headers ? 'chat' : 'resource' }) as never,
    };
    const routes = organizationKindRoutes([kindWith({ dialects })]);
    expect(routes.map(({ path }) => path)).toEqual(['/v1/things', '/v1/things/**']);
    for (const { envelopeOf } of routes) {
      expect(envelopeOf?.({ 'x-chat': '1' })).toBe('chat');
      expect(envelopeOf?.({})).toBe('resource');
    }
  });
});

describe('an outline', () => {
  const GROUPS = {
    ACCOUNT_ROUTES,
    DEPLOYMENT_ROUTES,
    REPORT_ROUTES,
    RUN_ROUTES,
    SERVICE_ROUTES,
    SESSION_ROUTES,
    SSO_ROUTES,
    WEBHOOK_ROUTES,
  };

  it.each(Object.entries(GROUPS))('names each path once: %s', (_, routes) => {
    const paths = routes.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const { methods } of routes) expect(Object.keys(methods)).not.toEqual([]);
  });

  it('is in the shape of resources, but for runs of models', () => {
    const flat = Object.entries(GROUPS).filter(([, routes]) =>
      routes.every(({ envelope }) => envelope === 'flat'),
    );
    expect(flat.map(([name]) => name)).toEqual(['RUN_ROUTES']);
    const others = Object.values(GROUPS).filter((routes) => routes !== RUN_ROUTES);
    for (const { envelope } of others.flat()) expect(envelope).toBe('resource');
  });

  it('of Services alone answers no HEAD, since what is read there has no end', () => {
    for (const routes of Object.values(GROUPS))
      for (const route of routes) {
        const refuses = 'refusesHead' in route && route.refusesHead;
        expect(refuses, route.path).toBe(routes === SERVICE_ROUTES);
      }
  });
});
