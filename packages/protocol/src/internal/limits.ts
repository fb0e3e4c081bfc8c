/** The bounds of one message, where nobody says otherwise. */

/** 64 MiB. */
export const bytes = 64 * 1024 * 1024

/** Levels of nesting. */
export const depth = 512

/** Members and items, all together: 4 Mi. */
export const members = 4 * 1024 * 1024
