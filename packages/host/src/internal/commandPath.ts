/**
 * Where a command would be found: pure, for every platform.
 */

/** The files a command may be, in the order they are tried. */
export const candidates = (options: {
  readonly command: string
  readonly platform: string
  /** The value of PATH. */
  readonly path: string
  /** The value of PATHEXT; Windows only. */
  readonly extensions?: string
  /** The folder relative paths start from. */
  readonly cwd?: string
}): ReadonlyArray<string> => {
  const { command, cwd = ".", platform } = options
  const onWindows = platform === "win32"
  const separator = onWindows ? "\\" : "/"
  const join = (folder: string, name: string) =>
    folder.endsWith("/") || folder.endsWith(separator) ? `${folder}${name}` : `${folder}${separator}${name}`
  const isPath = onWindows ? /[\\/]|^[A-Za-z]:/.test(command) : command.includes("/")
  const isAbsolute = onWindows ? /^(?:[A-Za-z]:)?[\\/]/.test(command) : command.startsWith("/")
  const folders = options.path.split(onWindows ? ";" : ":").map((folder) => folder.replaceAll('"', ""))
  const files = isPath
    ? [isAbsolute ? command : join(cwd, command)]
    : // An empty part of PATH means the working directory, and Windows looks there first.
      [...(onWindows ? [cwd] : []), ...folders].map((folder) => join(folder === "" ? cwd : folder, command))
  if (!onWindows) return files
  const extensions = (options.extensions ?? ".COM;.EXE;.BAT;.CMD").split(";").filter((extension) => extension !== "")
  const has = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()))
  return files.flatMap((file) => [
    ...(has ? [file] : []),
    ...extensions.map((extension) => `${file}${extension.toLowerCase()}`)
  ])
}
