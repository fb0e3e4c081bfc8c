/**
 * Commands on Windows: many are `.cmd` files, which only the command interpreter runs, and it reads its line by rules of
 * its own (T-STDIO-6). All here is pure, so it is tested on any platform.
 */
import * as Result from "effect/Result"

/** What to spawn. With `shell`, `command` is a whole line for the command interpreter. */
export interface Invocation {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly shell: boolean
}

const usual = ".COM;.EXE;.BAT;.CMD"

const hasFolder = (command: string) => /[\\/]|^[a-z]:/i.test(command)

/** The files a command may mean, best first: folders of PATH in order, in each the extensions of PATHEXT in order. */
export const candidates = (options: {
  readonly command: string
  readonly path: string | undefined
  readonly pathExt: string | undefined
}): ReadonlyArray<string> => {
  const { command } = options
  const extensions = (options.pathExt ?? usual).split(";").filter((extension) => extension.startsWith("."))
  const named = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()))
  const names = [...(named ? [command] : []), ...extensions.map((extension) => command + extension)]
  if (hasFolder(command)) return names
  const folders = (options.path ?? "")
    .split(";")
    .map((folder) => folder.replaceAll('"', ""))
    .filter((folder) => folder !== "")
  return folders.flatMap((folder) => names.map((name) => `${folder.replace(/[\\/]+$/, "")}\\${name}`))
}

/** Characters that mean nothing to the interpreter and need no quotes. */
const harmless = /^[a-z0-9#$*+\-./:?@\\_]+$/i

/**
 * Quotes one argument for a batch file. A batch file reads its arguments a second time when it hands them on, so a quote
 * is doubled rather than escaped, and a percent sign is kept from starting a variable.
 */
const quoted = (argument: string): string => {
  if (harmless.test(argument) && !argument.endsWith("\\")) return argument
  const inside = argument
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, "$1$1")
    .replaceAll("%", "%%cd:~,%")
  return `"${inside}"`
}

const isBatch = (file: string) => /\.(cmd|bat)$/i.test(file)

/** How a file that was found is run. Fails, with the reason, for what a batch file cannot be given. */
export const invocation = (file: string, args: ReadonlyArray<string>): Result.Result<Invocation, string> => {
  if (!isBatch(file)) return Result.succeed({ command: file, args, shell: false })
  if ([file, ...args].some((word) => /[\r\n\0]/.test(word))) {
    return Result.fail("InvalidArgument (a .cmd file cannot take an argument with a line break)")
  }
  if (file.includes('"') || file.endsWith("\\")) return Result.fail("InvalidArgument (no file has such a name)")
  return Result.succeed({ command: [`"${file}"`, ...args.map(quoted)].join(" "), args: [], shell: true })
}
