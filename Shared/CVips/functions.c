#include "CVips.h"

#include <dlfcn.h>

// The library is loaded with the first picture, not with the program: with the eighty that it needs it takes 15 MB of
// memory, also of a process that renders none. What is called by its name is loaded at the start, so nothing is: only
// what this list has, by `KITH_VIPS`.
#define KITH_VIPS_FUNCTIONS(F)                                                                                   \
  F(g_free) F(g_get_monotonic_time) F(g_log_set_handler) F(g_object_unref) F(g_signal_connect_data)              \
  F(vips_area_unref) F(vips_array_double_newv) F(vips_autorot) F(vips_cache_set_max) F(vips_cache_set_max_files) \
  F(vips_cache_set_max_mem) F(vips_colourspace) F(vips_concurrency_set) F(vips_error_clear) F(vips_flatten)      \
  F(vips_heifload_source) F(vips_image_copy_memory) F(vips_image_get_height) F(vips_image_get_string)            \
  F(vips_image_get_typeof) F(vips_image_get_width) F(vips_image_hasalpha) F(vips_image_new_from_memory_copy)     \
  F(vips_image_set_kill) F(vips_image_set_progress) F(vips_init) F(vips_jpegload_source)                         \
  F(vips_jpegsave_buffer) F(vips_operation_block_set) F(vips_pngload_source) F(vips_source_new_from_memory)      \
  F(vips_thumbnail_image) F(vips_version) F(vips_webpload_source)

#define KITH_VIPS_POINTER(name) __typeof__(name) *name;
struct kith_vips_functions {
  KITH_VIPS_FUNCTIONS(KITH_VIPS_POINTER)
  int started;
};

// One for the program. That of a function in a header is one for each Swift file that the compiler puts a call of it
// into: it moves calls between files, and what one has found the others would never have.
static struct kith_vips_functions functions;

// In parentheses, as some of the names are macros with arguments, too.
#define KITH_VIPS(name) (*functions.name)

static void kith_vips_quiet(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data) {
  (void)domain, (void)level, (void)message, (void)data;
}

const char *kith_vips_file(void) { return "libvips.so.42"; }

const char *kith_vips_start(const char *file, const char *program) {
#ifdef __APPLE__
  // There programs are linked with it: it is in a folder that is searched for no other.
  void *library = RTLD_DEFAULT;
#else
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#endif
  // Others call what is found already, so that is not touched.
  if (functions.started) return NULL;
#define KITH_VIPS_FIND(name) \
  if (!(functions.name = (__typeof__(name) *)dlsym(library, #name))) return "libvips lacks " #name;
  KITH_VIPS_FUNCTIONS(KITH_VIPS_FIND)
#undef KITH_VIPS_FIND
  if (KITH_VIPS(vips_version)(3) - KITH_VIPS(vips_version)(5) != VIPS_LIBRARY_CURRENT - VIPS_LIBRARY_AGE) {
    return "libvips is not of the version that the program was built with";
  }
  if (KITH_VIPS(vips_init)(program)) return "libvips cannot be started";
  // What it has to say of a picture comes with the failure, or does not matter.
  KITH_VIPS(g_log_set_handler)("VIPS", (GLogLevelFlags)(G_LOG_LEVEL_MASK & ~G_LOG_LEVEL_ERROR), kith_vips_quiet, NULL);
  KITH_VIPS(vips_operation_block_set)("VipsForeignLoad", TRUE);
  KITH_VIPS(vips_operation_block_set)("VipsForeignLoadJpeg", FALSE);
  KITH_VIPS(vips_operation_block_set)("VipsForeignLoadPng", FALSE);
  KITH_VIPS(vips_operation_block_set)("VipsForeignLoadWebp", FALSE);
  KITH_VIPS(vips_operation_block_set)("VipsForeignLoadHeif", FALSE);
  KITH_VIPS(vips_concurrency_set)(1);
  KITH_VIPS(vips_cache_set_max)(0);
  KITH_VIPS(vips_cache_set_max_mem)(0);
  KITH_VIPS(vips_cache_set_max_files)(0);
  functions.started = 1;
  return NULL;
}

gint64 kith_vips_microseconds(void) { return KITH_VIPS(g_get_monotonic_time)(); }

void kith_vips_free(void *bytes) { KITH_VIPS(g_free)(bytes); }

void kith_vips_release(void *object) { KITH_VIPS(g_object_unref)(object); }

void kith_vips_clear_errors(void) { KITH_VIPS(vips_error_clear)(); }

VipsSource *kith_vips_source(const void *bytes, size_t count) {
  return KITH_VIPS(vips_source_new_from_memory)(bytes, count);
}

VipsImage *kith_vips_jpeg(VipsSource *source, int shrink) {
  VipsImage *image = NULL;
  int failed = KITH_VIPS(vips_jpegload_source)(
      source, &image, "shrink", shrink, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
  return failed ? NULL : image;
}

// The decoder gives up on a file that ends too early when its pixels are read.
static VipsImage *opened(int (*load)(VipsSource *, VipsImage **, ...), VipsSource *source) {
  VipsImage *image = NULL;
  int failed = load(source, &image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
  return failed ? NULL : image;
}

VipsImage *kith_vips_png(VipsSource *source) { return opened(functions.vips_pngload_source, source); }

VipsImage *kith_vips_webp(VipsSource *source) { return opened(functions.vips_webpload_source, source); }

VipsImage *kith_vips_heic(VipsSource *source) { return opened(functions.vips_heifload_source, source); }

VipsImage *kith_vips_bitmap(const void *bytes, size_t count, int width, int height) {
  return KITH_VIPS(vips_image_new_from_memory_copy)(bytes, count, width, height, 3, VIPS_FORMAT_UCHAR);
}

int kith_vips_width(VipsImage *image) { return KITH_VIPS(vips_image_get_width)(image); }

int kith_vips_height(VipsImage *image) { return KITH_VIPS(vips_image_get_height)(image); }

int kith_vips_has_alpha(VipsImage *image) { return KITH_VIPS(vips_image_hasalpha)(image); }

const char *kith_vips_heif_compression(VipsImage *image) {
  const char *text = NULL;
  return KITH_VIPS(vips_image_get_string)(image, "heif-compression", &text) ? NULL : text;
}

VipsImage *kith_vips_computed(VipsImage *image) { return KITH_VIPS(vips_image_copy_memory)(image); }

VipsImage *kith_vips_reduced(VipsImage *picture, int side) {
  VipsImage *image = NULL;
  int failed = KITH_VIPS(vips_image_get_typeof)(picture, VIPS_META_ICC_NAME)
      ? KITH_VIPS(vips_thumbnail_image)(
            picture, &image, side, "height", side, "size", VIPS_SIZE_DOWN, "no_rotate", TRUE, "export_profile", "srgb",
            NULL)
      : KITH_VIPS(vips_thumbnail_image)(
            picture, &image, side, "height", side, "size", VIPS_SIZE_DOWN, "no_rotate", TRUE, NULL);
  return failed ? NULL : image;
}

VipsImage *kith_vips_flattened(VipsImage *seen) {
  VipsImage *image = NULL;
  VipsArrayDouble *white = KITH_VIPS(vips_array_double_newv)(1, 255.0);
  int failed = KITH_VIPS(vips_flatten)(seen, &image, "background", white, NULL);
  KITH_VIPS(vips_area_unref)((VipsArea *)white);
  return failed ? NULL : image;
}

VipsImage *kith_vips_in_srgb(VipsImage *image) {
  VipsImage *converted = NULL;
  return KITH_VIPS(vips_colourspace)(image, &converted, VIPS_INTERPRETATION_sRGB, NULL) ? NULL : converted;
}

VipsImage *kith_vips_turned(VipsImage *image) {
  VipsImage *turned = NULL;
  return KITH_VIPS(vips_autorot)(image, &turned, NULL) ? NULL : turned;
}

int kith_vips_jpeg_bytes(VipsImage *image, int quality, void **bytes, size_t *count) {
  return KITH_VIPS(vips_jpegsave_buffer)(
      image, bytes, count, "Q", quality, "strip", TRUE, "optimize_coding", TRUE, NULL);
}

static void kith_vips_stop_when_late(VipsImage *image, VipsProgress *progress, gpointer end) {
  (void)progress;
  if (kith_vips_microseconds() > *(gint64 *)end) KITH_VIPS(vips_image_set_kill)(image, TRUE);
}

void kith_vips_ends(VipsImage *image, gint64 *end) {
  KITH_VIPS(vips_image_set_progress)(image, TRUE);
  KITH_VIPS(g_signal_connect_data)(image, "eval", (GCallback)kith_vips_stop_when_late, end, NULL, (GConnectFlags)0);
}
