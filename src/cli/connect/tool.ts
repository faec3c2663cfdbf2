/** `background`: titles and summaries; `plan`: what to do, before it is done. */
export const TASKS = ['background', 'plan'] as const;
export type Task = (typeof TASKS)[number];

/** Address, key and models that a tool is given. */
export interface ToolSetup {
  /** Address of the gateway without a slash at its end. */
  readonly server: string;
  /** Value of the key, or its placeholder. */
  readonly key: string;
  /** Name of the model that the tool asks for by itself. */
  readonly model: string;
  /** Models of tasks that have one of their own; default: `model`. */
  readonly background?: string | undefined;
  readonly plan?: string | undefined;
  /** Names of all models that it may be switched to. */
  readonly models: readonly string[];
}

export type ToolFormat = 'json' | 'yaml' | 'env' | 'toml';

/** A file that a tool reads. */
export interface ToolFile {
  /** Below the user's home, or below the working directory where `isHere` says so. */
  readonly path: string;
  readonly isHere?: boolean;
  /** Environment variable that moves the folder of the file, and the part of `path` it replaces. */
  readonly movedBy?: { readonly variable: string; readonly folder: string };
  /**
   * Names in the same folder that the tool reads, that whose members win first; the first that is there is
   * written. Default: that of `path`.
   */
  readonly names?: readonly string[];
  /** Name of an older file, which the tool does not read where there is this one. */
  readonly replaces?: string;
  readonly format: ToolFormat;
  /**
   * Content that is merged into the file: members of objects one by one, lists of named things by
   * their `name`. A text is the whole file.
   */
  readonly content: Readonly<Record<string, unknown>> | string;
  /** Members that a new file needs, and that an existing one keeps as they are. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/** Settings that make one tool use the gateway. */
export interface ToolRecipe {
  /** Environment variables that suffice to start the tool with. */
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: readonly ToolFile[];
  /** Settings that `--run` puts into a file of its own, whose path it hands over in a variable. */
  readonly settings?: {
    readonly variable: string;
    readonly content: Readonly<Record<string, unknown>>;
  };
  /** Arguments that the tool needs in addition to its environment or its file. */
  readonly args?: readonly string[];
  /** Steps done by hand, one line each. */
  readonly steps?: readonly string[];
}

/** A program that people use models with. */
export interface Tool {
  /** The word after `gateway connect`. */
  readonly name: string;
  /** Other words for it. */
  readonly aliases?: readonly string[];
  readonly title: string;
  /** Description in a few words. */
  readonly summary: string;
  /** Protocol that it speaks with the gateway. */
  readonly protocol: 'chat' | 'messages' | 'responses' | 'generate-content';
  /** Program that `--run` starts; absent for tools that are not started from a terminal. */
  readonly program?: string;
  /** Command that installs the program. */
  readonly install?: string;
  /** Tasks that can have a model of their own. Default: none. */
  readonly tasks?: readonly Task[];
  recipe(setup: ToolSetup): ToolRecipe;
}
