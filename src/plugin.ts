/**
 * Exports for plugins of the `gateway` command: the base of their commands, and the types that
 * describe them.
 */
export { Args, Flags } from '@oclif/core';
export { GatewayCommand } from './cli/plugins/gateway-command.ts';
export type { GatewayContext } from './cli/plugins/gateway-command.ts';
export type { CliErrorOptions } from './cli/cli-error.ts';
export type { ExitName } from './cli/exit-codes.ts';
export { ClientError } from './client/http/client-error.ts';
export type { Client } from './client/create-client.ts';
