/** Commands that come from packages of others. */
export const PLUGIN_COMMANDS = [
  {
    name: 'plugins',
    summary: 'Manage plugins',
    description:
      'A plugin is a package that adds commands. They take the global flags and print and exit like built-in commands, which take precedence. docs/extend.md describes how to write one.',
    examples: [{ command: 'gateway plugins list', note: 'Installed plugins' }],
  },
  {
    name: 'plugins install',
    aliases: ['add'],
    summary: 'Install or update a plugin',
    description:
      'Shows the exact version, digest and commands and asks before anything changes. npm fetches the package without running its scripts; a tarball or directory without dependencies needs no network. Plugins are kept in $XDG_DATA_HOME/gateway/plugins (default ~/.local/share).',
    examples: [
      { command: 'gateway plugins install gateway-plugin-report@1.2.0', note: 'From a registry' },
      {
        command: 'gateway plugins install ./report-1.2.0.tgz --yes',
        note: 'A tarball, without confirmation',
      },
    ],
    args: [
      {
        name: 'plugin',
        required: true,
        description: 'Package name, optionally with @version, a tarball, or a directory',
      },
    ],
    load: () => import('../commands/plugins/plugins-install.ts'),
  },
  {
    name: 'plugins list',
    aliases: ['ls'],
    summary: 'List plugins',
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
      'For authors, before `npm pack`: loads the commands of a package and records their names, arguments and flags, which `plugins install` and help read instead of the code.',
    examples: [{ command: 'gateway plugins manifest', note: 'For the plugin in this directory' }],
    args: [{ name: 'dir', description: 'Directory of the plugin (default: the current one)' }],
    load: () => import('../commands/plugins/plugins-manifest.ts'),
  },
] as const;
