// The configuration somebody starts with: what can be set is said where it would be set.

/** A file without agents yet; `withProperty` puts them in. */
export function newConfig(schema: string, policy?: string): string {
  return `// acp-switchboard: one editor connection, many agents.
// Check it with \`switchboard config validate\`, see what is in force with \`switchboard config show --origin\`.
{
  "$schema": ${JSON.stringify(schema)},

  // The agents by name, in the shape Zed and JetBrains use. The first one is the default.
  // Secrets stay where they are: "env": { "KEY": "\${env:KEY}" } or "\${file:key.txt}". More: \`switchboard agents add --help\`.
  "agent_servers": {},

  // The agent of a session that nothing else assigns, and agents for directories; the first match wins.
  // "default_agent": "claude-agent",
  // "routes": [{ "cwd": "/projects/android/**", "agent": "gemini" }],

  // What agents may do, as "policy": a preset (careful, standard, ci, readonly) or a policy file beside this one.
  // Without it, every question goes to your editor as before.${policy === undefined ? '' : `\n  "policy": ${JSON.stringify(policy)},`}
}
`;
}

// Where an entry of the configuration was taken from, as a comment above it.
const MARK = 'imported from ';

export const provenance = (source: string): string => `${MARK}${source}`;

/** Whether a line is such a comment; it goes with its entry. */
export const isOurNote = (line: string): boolean => line.startsWith(`// ${MARK}`);
