// Snippets for editors that are configured in code.
import { joinWords } from '../agents/shell-words.ts';
import type { Start } from './start-command.ts';

export const SNIPPETS: Readonly<Record<string, (start: Start) => string>> = {
  lua: ({ command, args }) => {
    const words = [command, ...args].map(quote);
    return `-- Neovim, CodeCompanion: in require("codecompanion").setup({ … })
adapters = {
  acp = {
    switchboard = function()
      return require("codecompanion.adapters").extend("goose", {
        name = "switchboard",
        formatted_name = "Switchboard",
        commands = { default = { ${words.join(', ')} } },
      })
    end,
  },
},

-- Neovim, avante.nvim and agentic.nvim: in their setup({ … })
acp_providers = {
  ["switchboard"] = { command = ${quote(command)}, args = { ${args.map(quote).join(', ')} }, env = {} },
},
`;
  },
  elisp: ({ command, args }) => `;; Emacs, agent-shell
(with-eval-after-load 'agent-shell
  (add-to-list 'agent-shell-agent-configs
               (agent-shell-make-agent-config
                :identifier 'switchboard
                :mode-line-name "Switchboard"
                :buffer-name "Switchboard"
                :shell-prompt "Switchboard> "
                :shell-prompt-regexp "Switchboard> "
                :client-maker (lambda (buffer)
                                (acp-make-client :command ${quote(command)}
                                                 :command-params '(${args.map(quote).join(' ')})
                                                 :context-buffer buffer)))))
`,
  toml: ({ command, args }) => `# Toad: one file for each agent
identity = "switchboard.local"
name = "Switchboard"
short_name = "switchboard"
protocol = "acp"
type = "coding"
description = "One connection, many agents."
tags = []
run_command."*" = ${quote(joinWords([command, ...args]))}
`,
};

// Lua, Emacs Lisp and TOML share JSON's escapes for quotes and backslashes.
const quote = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
