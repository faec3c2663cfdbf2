/**
 * The public API of the package: what it takes to call a gateway, to check its configuration, to stand
 * in for its providers in tests, and to describe a provider or a store. The gateway itself is run by
 * the `gateway` command.
 */
export { createClient } from './client/create-client.ts';
export type { AdminKind, Client, ClientOptions } from './client/create-client.ts';
export { ClientError } from './client/http/client-error.ts';
export { formatDiagnostics } from './config/source/diagnostic.ts';
export type { Diagnostic } from './config/source/diagnostic.ts';
export { loadConfig } from './config/read/load-config.ts';
export type { GatewayConfig, LoadConfigOptions, LoadedConfig } from './config/read/load-config.ts';
export { systemClock } from './core/time/clock.ts';
export type { Clock } from './core/time/clock.ts';
export { defineProvider } from './providers/define-provider.ts';
export type { ProviderDefinition } from './providers/define-provider.ts';
export { startMockServer } from './providers/mock/mock-server.ts';
export type { MockServer, MockServerOptions } from './providers/mock/mock-server.ts';
export { openStore } from './store/open-store.ts';
export type { StoreConfig } from './store/store-config.ts';
export { StoreError } from './store/store.ts';
export type { Store } from './store/store.ts';
