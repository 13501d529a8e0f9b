// The schema of `sandbox` and `wrap`. settings.ts acts on them.
import * as z from 'zod';
import { SANDBOX_LEVELS, SANDBOX_NETWORKS } from '../policy/policy.ts';

const paths = z.array(z.string().min(1));

const level = z
  .enum(SANDBOX_LEVELS)
  .describe(
    '`off`: none. `read-only`: the agent reads the project and writes only its own state. `workspace`: it writes the project, except what the policy denies and files that make programs run something. `review`: it writes a layer over the project, and each change is decided at the end of the turn.',
  )
  .meta({ default: 'off' });

export const sandboxOption = z
  .union([
    level,
    z
      .strictObject({
        level,
        network: z
          .enum(SANDBOX_NETWORKS)
          .describe('`open`: no limit. `listed`: only hosts that the policy, `hosts` or the catalogue names. `none`: no connections.')
          .meta({ default: 'open' }),
        hosts: z
          .array(z.string().min(1))
          .describe('Hosts that `listed` allows: `example.com`, `*.example.com`, or `localhost:11434` for a program on this machine.')
          .meta({ default: [] }),
        write: paths
          .describe('Directories to write besides the project. A path in the project opens files there that are read-only otherwise.')
          .meta({ default: [] }),
        hide: paths.describe('Paths that the agent cannot read.').meta({ default: [] }),
        protect: paths.describe('Paths that the agent cannot write.').meta({ default: [] }),
        state: paths.describe("The agent's own directories, for an agent that the catalogue does not know.").meta({ default: [] }),
        sockets: paths.describe('Unix sockets that the agent may connect to. Without any, unix sockets are refused.').meta({ default: [] }),
        unavailable: z
          .enum(['fail', 'warn'])
          .describe('Where no sandbox is available: `fail`: the agent does not start. `warn`: it starts without one, with a warning.')
          .meta({ default: 'fail' }),
      })
      .partial(),
  ])
  .describe('Contains the agent: what the policy denies does not happen, whether the agent asks or not. See docs/sandbox.md.');

export const sandboxOptions = z
  .object({
    sandbox: sandboxOption,
    wrap: z
      .array(z.string().min(1))
      .min(1)
      .describe(
        'A command in front of this one, such as a sandbox of your own: `["firejail", "--quiet"]`. Switchboard then claims nothing.',
      ),
  })
  .partial();
