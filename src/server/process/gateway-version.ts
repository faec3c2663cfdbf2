import { createRequire } from 'node:module';

const manifest = createRequire(import.meta.url)('../../../package.json') as { version: string };

/** Of the gateway, as servers and callers are told it. */
export const VERSION: string = manifest.version;
