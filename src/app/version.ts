/** As in package.json; written in by the build. */
export const VERSION: string = process.env.SWITCHBOARD_VERSION ?? '0.0.0';
