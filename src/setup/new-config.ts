// The initial configuration, with comments that explain the settings.

/** A configuration without agents; `withProperty` adds them. */
export function newConfig(schema: string, policy?: string): string {
  return `// acp-switchboard: one editor connection, many agents.
// To check this file: \`switchboard config validate\`. To show all settings: \`switchboard config show --origin\`.
{
  "$schema": ${JSON.stringify(schema)},

  // The agents by name, in the format of Zed and JetBrains. The first one is the default.
  // Refer to secrets: "env": { "KEY": "\${env:KEY}" } or "\${file:key.txt}". To add agents: \`switchboard agents add --help\`.
  "agent_servers": {},

  // The default agent, and agents for directories; the first match wins.
  // "default_agent": "claude-agent",
  // "routes": [{ "cwd": "/projects/android/**", "agent": "gemini" }],

  // What agents may do: a preset (careful, standard, ci, readonly) or a policy file relative to this one.
  // Without a policy, every permission request goes to your editor.${policy === undefined ? '' : `\n  "policy": ${JSON.stringify(policy)},`}
}
`;
}

// The comment above an imported entry names its source.
const MARK = 'imported from ';

export const provenance = (source: string): string => `${MARK}${source}`;

/** Whether a line is such a comment, which is removed together with its entry. */
export const isOurNote = (line: string): boolean => line.startsWith(`// ${MARK}`);
