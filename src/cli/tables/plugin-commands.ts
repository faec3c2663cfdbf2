import type { CommandSpec } from '../command.ts';

/** Commands that come from packages of others. */
export const PLUGIN_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'plugins',
    summary: 'Manage commands of others',
    description:
      'A plugin is a package that adds commands. They take the global flags, print and exit as built-in ones do; those win when names are the same. docs/extend.md tells how to write one.',
    examples: [{ command: 'gateway plugins list', note: 'What is installed' }],
  },
  {
    name: 'plugins install',
    aliases: ['add'],
    summary: 'Install a plugin, or another version of it',
    description:
      'Shows exact version, digest and commands and asks before anything changes. npm fetches the package without running its scripts; a tarball or directory that depends on nothing needs no network. Plugins live below $XDG_DATA_HOME/gateway/plugins (~/.local/share).',
    examples: [
      { command: 'gateway plugins install gateway-plugin-report@1.2.0', note: 'From a registry' },
      { command: 'gateway plugins install ./report-1.2.0.tgz --yes', note: 'A tarball, unasked' },
    ],
    args: [
      {
        name: 'plugin',
        required: true,
        description: 'Name of a package with or without @version, a tarball, or a directory',
      },
    ],
    load: () => import('../commands/plugins/plugins-install.ts'),
  },
  {
    name: 'plugins list',
    aliases: ['ls'],
    summary: 'List the plugins',
    examples: [{ command: 'gateway plugins list -o json', note: 'With their digests' }],
    load: () => import('../commands/plugins/plugins-list.ts'),
  },
  {
    name: 'plugins remove',
    aliases: ['rm', 'uninstall'],
    summary: 'Remove a plugin',
    examples: [
      { command: 'gateway plugins remove gateway-plugin-report', note: 'With its commands' },
    ],
    args: [{ name: 'name', required: true, description: 'Name of the plugin' }],
    load: () => import('../commands/plugins/plugins-remove.ts'),
  },
  {
    name: 'plugins manifest',
    summary: 'Write the manifest of a plugin',
    description:
      'For authors, before `npm pack`: loads the commands of the package in a directory and writes down their names, arguments and flags, which `plugins install` and help read in place of the code.',
    examples: [{ command: 'gateway plugins manifest', note: 'Of the plugin in this directory' }],
    args: [{ name: 'dir', description: 'Directory of the plugin (default: this one)' }],
    load: () => import('../commands/plugins/plugins-manifest.ts'),
  },
];
