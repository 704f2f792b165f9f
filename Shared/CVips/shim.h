#include <vips/vips.h>

// Swift calls no functions with variable arguments: these are the calls that have them, and what C does only by macro.

static inline void kith_vips_quiet(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data) {
  (void)domain, (void)level, (void)message, (void)data;
}

static inline int kith_vips_start(const char *program) {
  if (VIPS_INIT(program)) return -1;
  // What it has to say of a picture comes with the failure, or does not matter.
  g_log_set_handler("VIPS", (GLogLevelFlags)(G_LOG_LEVEL_MASK & ~G_LOG_LEVEL_ERROR), kith_vips_quiet, NULL);
  return 0;
}

// Opened from the header alone; a file that ends too early fails when its pixels are read. `shrink` is 1, 2, 4 or 8.
static inline VipsImage *kith_vips_jpeg(VipsSource *source, int shrink) {
  VipsImage *image = NULL;
  int failed = vips_jpegload_source(
      source, &image, "shrink", shrink, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
  return failed ? NULL : image;
}

static inline VipsImage *kith_vips_png(VipsSource *source) {
  VipsImage *image = NULL;
  int failed = vips_pngload_source(
      source, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
  return failed ? NULL : image;
}

// The first frame of an animation.
static inline VipsImage *kith_vips_webp(VipsSource *source) {
  VipsImage *image = NULL;
  int failed = vips_webpload_source(
      source, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
  return failed ? NULL : image;
}

static inline VipsImage *kith_vips_heic(VipsSource *source) {
  VipsImage *image = NULL;
  int failed = vips_heifload_source(
      source, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
  return failed ? NULL : image;
}

// No larger than `side` either way, never enlarged, not yet turned, its colours moved into sRGB from what its profile
// says. Without one it must not be asked to: it would go by way of another space, and come back with other colours.
static inline VipsImage *kith_vips_reduced(VipsImage *picture, int side) {
  VipsImage *image = NULL;
  int failed = vips_image_get_typeof(picture, VIPS_META_ICC_NAME)
      ? vips_thumbnail_image(
            picture, &image, side, "height", side, "size", VIPS_SIZE_DOWN, "no_rotate", TRUE, "export_profile", "srgb",
            NULL)
      : vips_thumbnail_image(picture, &image, side, "height", side, "size", VIPS_SIZE_DOWN, "no_rotate", TRUE, NULL);
  return failed ? NULL : image;
}

// What can be seen through lies on white.
static inline VipsImage *kith_vips_flattened(VipsImage *seen) {
  VipsImage *image = NULL;
  VipsArrayDouble *white = vips_array_double_newv(1, 255.0);
  int failed = vips_flatten(seen, &image, "background", white, NULL);
  vips_area_unref(VIPS_AREA(white));
  return failed ? NULL : image;
}

static inline VipsImage *kith_vips_in_srgb(VipsImage *image) {
  VipsImage *converted = NULL;
  return vips_colourspace(image, &converted, VIPS_INTERPRETATION_sRGB, NULL) ? NULL : converted;
}

static inline VipsImage *kith_vips_turned(VipsImage *image) {
  VipsImage *turned = NULL;
  return vips_autorot(image, &turned, NULL) ? NULL : turned;
}

// `*bytes` is the caller's to `g_free`.
static inline int kith_vips_jpeg_bytes(VipsImage *image, int quality, void **bytes, size_t *count) {
  return vips_jpegsave_buffer(image, bytes, count, "Q", quality, "strip", TRUE, "optimize_coding", TRUE, NULL);
}

static inline void kith_vips_stop_when_late(VipsImage *image, VipsProgress *progress, gpointer end) {
  (void)progress;
  if (g_get_monotonic_time() > *(gint64 *)end) vips_image_set_kill(image, TRUE);
}

// Gives up on computing `image` once the monotonic clock has passed `end`, in microseconds.
static inline void kith_vips_ends(VipsImage *image, gint64 *end) {
  vips_image_set_progress(image, TRUE);
  g_signal_connect(image, "eval", G_CALLBACK(kith_vips_stop_when_late), end);
}
