import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  build: { outDir: "dist", chunkSizeWarningLimit: 20_000, sourcemap: false },
  // Libraries mark files for servers that render React; the bundler says of each that it drops the mark.
  logLevel: "error",
});
