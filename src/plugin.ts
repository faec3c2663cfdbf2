/**
 * Exports for plugins of the `gateway` command: the shape of their commands, and the base of those that
 * are classes of oclif.
 */
export { definePluginCommand as defineCommand } from './cli/plugins/plugin-command.ts';
export type { CommandDeclaration } from './cli/define-command.ts';
export type { CommandResult } from './cli/command.ts';
export { CliError, usageError } from './cli/cli-error.ts';
export { Args, Flags } from '@oclif/core';
export { GatewayCommand } from './cli/plugins/gateway-command.ts';
export type { GatewayContext } from './cli/plugins/gateway-command.ts';
export type { CliErrorOptions } from './cli/cli-error.ts';
export type { ExitName } from './cli/exit-codes.ts';
export { ClientError } from './client/http/client-error.ts';
export type { Client } from './client/create-client.ts';
