// How each agent starts without a network: its settings lie in a home of its own and point at the scripted model. Nothing here changes when an
// agent asks for permission: agents run as their makers ship them, and the switchboard has to make them ask.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

function put(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
}

/** By the name that users give them: `id` in the catalogue, and the environment that `settings` returns after writing files into `home`. */
export const RECIPES = {
  claude: {
    id: 'claude-agent',
    settings: ({ home, model }) => ({
      CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'sk-ant-scripted-0000',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      ENABLE_TOOL_SEARCH: 'false', // otherwise the model sees tools only after it has searched for them
    }),
  },
  codex: {
    id: 'codex',
    settings({ home, model }) {
      const provider = ['name = "scripted"', `base_url = "${model}/v1"`, 'wire_api = "responses"', 'env_key = "SCRIPTED_KEY"'];
      const lines = [
        ...['model = "scripted"', 'model_provider = "scripted"', 'check_for_update_on_startup = false'],
        ...['[model_providers.scripted]', ...provider, 'requires_openai_auth = false', '[analytics]', 'enabled = false', ''],
      ];
      put(path.join(home, '.codex/config.toml'), lines.join('\n'));
      return { CODEX_HOME: path.join(home, '.codex'), SCRIPTED_KEY: 'sk-scripted-0000', MODEL_PROVIDER: 'scripted' };
    },
  },
  gemini: {
    id: 'gemini',
    login: 'gemini-api-key',
    /** It names the files of its sessions by the minute, and does not find one of the current minute. */
    loadsInNextMinute: true,
    /** It creates no file when the client answers with an error that there is none yet. */
    missingIsEmpty: true,
    args: ['--skip-trust'],
    settings({ home, model }) {
      put(path.join(home, '.gemini/settings.json'), {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        ...{ privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false }, telemetry: { enabled: false } },
      });
      return { GEMINI_API_KEY: 'scripted-0000', GOOGLE_GEMINI_BASE_URL: model, GEMINI_MODEL: 'gemini-2.5-flash' };
    },
  },
  opencode: {
    id: 'opencode',
    settings({ home, model }) {
      const models = { scripted: { name: 'Scripted', tool_call: true, reasoning: true, limit: { context: 100000, output: 8000 } } };
      const options = { baseURL: `${model}/v1`, apiKey: 'sk-scripted-0000' };
      put(path.join(home, '.config/opencode/opencode.json'), {
        ...{ model: 'scripted/scripted', small_model: 'scripted/scripted', autoupdate: false, share: 'disabled' },
        provider: { scripted: { npm: '@ai-sdk/openai-compatible', name: 'Scripted', options, models } },
      });
      return { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' };
    },
  },
  copilot: {
    id: 'copilot',
    settings: ({ model }) => ({
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: 'sk-scripted-0000',
      COPILOT_MODEL: 'scripted',
      COPILOT_AUTO_UPDATE: 'false',
    }),
  },
};

/** The agent's entry in `agent_servers`. */
export function entryOf({ recipe, folder, bin, args, home, model, nodeFolder }) {
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, '.config'),
    XDG_DATA_HOME: path.join(home, '.local/share'),
    XDG_STATE_HOME: path.join(home, '.local/state'),
    XDG_CACHE_HOME: path.join(home, '.cache'),
    PATH: `${path.join(nodeFolder, 'node_modules/.bin')}:${process.env.PATH}`,
    ...{ NO_BROWSER: '1', NO_COLOR: '1', TERM: 'dumb', LANG: 'C.UTF-8' },
    ...recipe.settings({ home, model }),
  };
  return { command: path.join(folder, 'node_modules/.bin', bin), args: [...args, ...(recipe.args ?? [])], env };
}
