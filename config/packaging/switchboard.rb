# Homebrew formula. VERSION and SHA256 are those of the published tarball: `npm view acp-switchboard@VERSION dist.tarball`.
class Switchboard < Formula
  desc "Transparent proxy and multiplexer for the Agent Client Protocol"
  homepage "https://www.npmjs.com/package/acp-switchboard"
  url "https://registry.npmjs.org/acp-switchboard/-/acp-switchboard-{{VERSION}}.tgz"
  sha256 "{{SHA256}}"
  license "Apache-2.0"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/switchboard --version")
    assert_match "You said", shell_output("#{bin}/switchboard run -o simple hello")
  end
end
