import Lists
