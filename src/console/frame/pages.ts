import type { Use } from '../../core/access.ts';

/** Drawing next to the name of the product. */
export const BRAND = 'M2 8h4m0 0 4-4.5h4M6 8h8M6 8l4 4.5h4';

/** A page as the navigation shows it, in its order. */
export interface PageEntry {
  readonly path: string;
  readonly name: string;
  /** Second key after `g`. */
  readonly key: string;
  /** Path of a 16 × 16 drawing of lines. */
  readonly icon: string;
  /** Scope without which it has nothing to show; undefined for all. */
  readonly scope?: string;
  /** Use without which it has nothing to show to a key with a role. */
  readonly use: Use;
  /** The command that shows the same. */
  readonly cli: string;
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/console/requests',
    name: 'Requests',
    key: 'r',
    use: 'read',
    cli: 'gateway logs --follow',
    icon: 'M2 4h12M2 8h8M2 12h10',
  },
  {
    path: '/console/costs',
    name: 'Costs',
    key: 'c',
    use: 'costs',
    cli: 'gateway usage --by model',
    icon: 'M2.5 13.5v-5m3.7 5v-9m3.6 9v-6m3.7 6v-11',
  },
  {
    path: '/console/sessions',
    name: 'Sessions',
    key: 's',
    use: 'read',
    scope: 'sessions',
    cli: 'gateway sessions list',
    icon: 'M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z',
  },
  {
    path: '/console/explain',
    name: 'Explain',
    key: 'e',
    use: 'read',
    scope: 'admin',
    cli: 'gateway models explain MODEL',
    icon: 'M2 8h4m0 0 4-4.5h4M6 8h8M6 8l4 4.5h4',
  },
  {
    path: '/console/keys',
    name: 'Keys',
    key: 'k',
    use: 'self',
    cli: 'gateway keys list',
    icon: 'M6 10.5a3 3 0 1 1 2.6-4.5H14v2.5h-2V10h-2V8.5H8.9A3 3 0 0 1 6 10.5z',
  },
  {
    path: '/console/schedules',
    name: 'Schedules',
    key: 'd',
    use: 'read',
    scope: 'deployments',
    cli: 'gateway schedules list',
    icon: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3m5-3v3',
  },
  {
    path: '/console/services',
    name: 'Services',
    key: 'v',
    use: 'read',
    scope: 'endpoints',
    cli: 'gateway services list',
    icon: 'M8 2.5l5.5 3-5.5 3-5.5-3zM2.5 10.5l5.5 3 5.5-3',
  },
  {
    path: '/console/configuration',
    name: 'Configuration',
    key: 'f',
    use: 'read',
    scope: 'admin',
    cli: 'gateway plan -f gateway.yaml',
    icon: 'M5 3 2 8l3 5M11 3l3 5-3 5',
  },
  {
    path: '/console/playground',
    name: 'Playground',
    key: 'p',
    use: 'call',
    cli: 'gateway chat MODEL',
    icon: 'M4 2.5v11l9-5.5z',
  },
  {
    path: '/console/audit',
    name: 'Audit',
    key: 'a',
    use: 'read',
    scope: 'admin',
    cli: 'gateway audit',
    icon: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM6 8l1.5 1.5L10.5 6.5',
  },
];
