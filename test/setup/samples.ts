// Editors' settings as users have them: edited by hand, with comments where the editor allows them.

export const ZED = `// Zed settings
//
// For information on how to configure Zed, see the Zed documentation
{
  "ui_font_size": 16,
  "buffer_font_family": "Zed Mono", // the default
  /* lsp */
  "lsp": { "rust-analyzer": { "binary": { "path": "/usr/bin/rust-analyzer" } } },
  "agent_servers": {
    // for work
    "Claude Code": {
      "type": "custom",
      "command": "npx",
      "args": ["-y", "@zed-industries/claude-code-acp", "--api-key", "canary-in-args"],
      "env": {
        "ANTHROPIC_API_KEY": "canary-zed-7c1f",
        "CLAUDE_CODE_EXECUTABLE": "/opt/claude",
      },
      "default_mode": "plan",
    },
    "gemini": { "type": "registry", "env": { "GEMINI_MODEL": "pro" } },
    "unheard-of": { "type": "registry" }, // installed by Zed
  },
  "theme": {
    "mode": "system",
    "dark": "One Dark", // at night
  },
}
`;

export const JETBRAINS = `{
    "default_mcp_settings": {
        "use_idea_mcp": true,
        "use_custom_mcp": true
    },
    "agent_servers": {
        "OpenCode": {
            "command": "/usr/local/bin/opencode",
            "args": ["acp"],
            "env": {"OPENCODE_TOKEN": "canary-jb-7c1f"},
            "use_idea_mcp": false
        }
    }
}
`;

export const VSCODE = `{
\t"editor.fontSize": 13,
\t// agents
\t"acp.agents": {
\t\t"Gemini CLI": { "command": "npx", "args": ["@google/gemini-cli@latest", "--experimental-acp"], "env": {} },
\t},
\t"acp.autoApprovePermissions": "ask",
\t"[python]": { "editor.tabSize": 4 }, // as PEP 8 has it
}`;

export const ACP_UI = `{"agents": {"qwen": {"command": "qwen", "args": ["--acp"], "env": {}}, "far": {"url": "wss://agents.example/acp"}}}`;

export const ACPX = `{
  "defaultAgent": "codex",
  "defaultPermissions": "approve-reads",
  "agents": {
    "codex": { "command": "npx -y '@zed-industries/codex-acp' --name \\"my codex\\"" }
  }
}
`;
