; Made by llvm_from_c.py from sources with the digest 3e540d1dbb327cac57074b4b4e85fa2b
; with ziglang 0.17.1

%struct.input_record = type { i64, i64, i64, i64, i64, ptr, i64, ptr }

@calls = internal global i64 0, align 8

define ptr @grow(ptr %0, i64 %1) {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %4 = load i64, ptr %3, align 8
  %5 = add i64 %4, %1
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %7 = load i64, ptr %6, align 8
  %8 = icmp ugt i64 %5, %7
  br i1 %8, label %11, label %9

9:
  store i64 %5, ptr %3, align 8
  %10 = inttoptr i64 %4 to ptr
  br label %43

11:
  %12 = add i64 %1, 128
  %13 = load i64, ptr %0, align 8
  %14 = inttoptr i64 %13 to ptr
  %15 = getelementptr inbounds nuw i8, ptr %14, i64 120
  %16 = load ptr, ptr %15, align 8
  %17 = tail call ptr %16(i64 %12)
  %18 = icmp eq ptr %17, null
  br i1 %18, label %43, label %19

19:
  %20 = getelementptr inbounds nuw i8, ptr %14, i64 248
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %21, null
  %23 = icmp slt i64 %12, 4194304
  %24 = or i1 %23, %22
  %25 = ptrtoint ptr %17 to i64
  br i1 %24, label %33, label %26

26:
  %27 = add i64 %25, 4095
  %28 = and i64 %27, -4096
  %29 = inttoptr i64 %28 to ptr
  %30 = add i64 %12, %25
  %31 = sub i64 %30, %28
  %32 = tail call i32 %21(ptr %29, i64 %31, i32 14)
  br label %33

33:
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %35 = load i64, ptr %34, align 8
  %36 = inttoptr i64 %35 to ptr
  store ptr %36, ptr %17, align 8
  %37 = getelementptr inbounds nuw i8, ptr %17, i64 8
  store i64 %12, ptr %37, align 8
  store i64 %25, ptr %34, align 8
  %38 = getelementptr inbounds nuw i8, ptr %17, i64 16
  %39 = ptrtoint ptr %38 to i64
  %40 = add i64 %39, 63
  %41 = and i64 %40, -64
  %42 = inttoptr i64 %41 to ptr
  br label %43

43:
  %44 = phi ptr [ %10, %9 ], [ %42, %33 ], [ null, %11 ]
  ret ptr %44
}

define ptr @alloc_output(ptr %0, i64 %1, ptr %2) {
  %4 = load i64, ptr %0, align 8
  %5 = inttoptr i64 %4 to ptr
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %13, label %9

9:
  %10 = getelementptr inbounds nuw i8, ptr %5, i64 184
  %11 = load ptr, ptr %10, align 8
  %12 = inttoptr i64 %7 to ptr
  tail call void %11(ptr %12)
  store i64 0, ptr %6, align 8
  br label %13

13:
  %14 = getelementptr inbounds nuw i8, ptr %5, i64 264
  %15 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %16 = load i64, ptr %15, align 8
  %17 = getelementptr %struct.input_record, ptr %14, i64 %16
  %18 = getelementptr %struct.input_record, ptr %17, i64 %1
  %19 = getelementptr inbounds nuw i8, ptr %18, i64 24
  %20 = getelementptr inbounds nuw i8, ptr %18, i64 16
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %21, null
  %23 = load ptr, ptr %19, align 8
  %24 = icmp eq ptr %23, null
  br i1 %22, label %45, label %25

25:
  br i1 %24, label %94, label %26

26:
  %27 = load i32, ptr %23, align 4
  %28 = icmp eq i32 %27, 1
  br i1 %28, label %29, label %94

29:
  %30 = getelementptr inbounds nuw i8, ptr %18, i64 8
  %31 = load i64, ptr %30, align 8
  %32 = getelementptr inbounds nuw i8, ptr %23, i64 32
  %33 = load ptr, ptr %32, align 8
  %34 = icmp slt i64 %31, 1
  br i1 %34, label %90, label %38

35:
  %36 = add nuw nsw i64 %39, 1
  %37 = icmp eq i64 %36, %31
  br i1 %37, label %93, label %38

38:
  %39 = phi i64 [ %36, %35 ], [ 0, %29 ]
  %40 = getelementptr inbounds nuw i64, ptr %33, i64 %39
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr inbounds nuw i64, ptr %2, i64 %39
  %43 = load i64, ptr %42, align 8
  %44 = icmp eq i64 %41, %43
  br i1 %44, label %35, label %94

45:
  br i1 %24, label %66, label %46

46:
  %47 = load i32, ptr %23, align 4
  %48 = icmp eq i32 %47, 1
  br i1 %48, label %49, label %66

49:
  %50 = getelementptr inbounds nuw i8, ptr %23, i64 24
  %51 = load i32, ptr %50, align 4
  %52 = icmp eq i32 %51, 0
  br i1 %52, label %53, label %66

53:
  %54 = getelementptr inbounds nuw i8, ptr %23, i64 64
  %55 = load i32, ptr %54, align 4
  %56 = icmp eq i32 %55, 1287
  br i1 %56, label %57, label %66

57:
  %58 = getelementptr inbounds nuw i8, ptr %23, i64 72
  %59 = load ptr, ptr %58, align 8
  %60 = icmp eq ptr %59, null
  br i1 %60, label %61, label %66

61:
  %62 = getelementptr inbounds nuw i8, ptr %23, i64 56
  %63 = load ptr, ptr %62, align 8
  %64 = load ptr, ptr %18, align 8
  %65 = icmp eq ptr %63, %64
  br i1 %65, label %90, label %66

66:
  %67 = getelementptr inbounds nuw i8, ptr %18, i64 32
  %68 = load ptr, ptr %67, align 8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %94, label %70

70:
  %71 = load i32, ptr %68, align 4
  %72 = icmp eq i32 %71, 1
  br i1 %72, label %73, label %94

73:
  %74 = getelementptr inbounds nuw i8, ptr %68, i64 24
  %75 = load i32, ptr %74, align 4
  %76 = icmp eq i32 %75, 0
  br i1 %76, label %77, label %94

77:
  %78 = getelementptr inbounds nuw i8, ptr %68, i64 64
  %79 = load i32, ptr %78, align 4
  %80 = icmp eq i32 %79, 1287
  br i1 %80, label %81, label %94

81:
  %82 = getelementptr inbounds nuw i8, ptr %68, i64 72
  %83 = load ptr, ptr %82, align 8
  %84 = icmp eq ptr %83, null
  br i1 %84, label %85, label %94

85:
  %86 = getelementptr inbounds nuw i8, ptr %68, i64 56
  %87 = load ptr, ptr %86, align 8
  %88 = load ptr, ptr %18, align 8
  %89 = icmp eq ptr %87, %88
  br i1 %89, label %90, label %94

90:
  %91 = phi ptr [ %23, %29 ], [ %23, %61 ], [ %68, %85 ]
  %92 = phi ptr [ %19, %29 ], [ %19, %61 ], [ %67, %85 ]
  store ptr null, ptr %92, align 8
  br label %110

93:
  store ptr null, ptr %19, align 8
  br label %110

94:
  %95 = getelementptr inbounds nuw i8, ptr %5, i64 96
  %96 = load ptr, ptr %95, align 8
  %97 = load ptr, ptr %18, align 8
  tail call void %96(ptr %97)
  %98 = getelementptr inbounds nuw i8, ptr %5, i64 80
  %99 = load ptr, ptr %98, align 8
  %100 = getelementptr inbounds nuw i8, ptr %5, i64 72
  %101 = load ptr, ptr %100, align 8
  %102 = load ptr, ptr %18, align 8
  %103 = getelementptr inbounds nuw i8, ptr %18, i64 8
  %104 = load i64, ptr %103, align 8
  %105 = trunc i64 %104 to i32
  %106 = tail call ptr %99(ptr %101, ptr %102, i32 %105, ptr %2, ptr null, ptr null, i32 0, ptr null)
  %107 = icmp eq ptr %106, null
  br i1 %107, label %119, label %108

108:
  %109 = load i64, ptr %15, align 8
  br label %110

110:
  %111 = phi i64 [ %16, %93 ], [ %109, %108 ], [ %16, %90 ]
  %112 = phi ptr [ %23, %93 ], [ %106, %108 ], [ %91, %90 ]
  %113 = mul i64 %111, 24
  %114 = getelementptr i8, ptr %0, i64 %113
  %115 = getelementptr i8, ptr %114, i64 40
  %116 = getelementptr inbounds ptr, ptr %115, i64 %1
  store ptr %112, ptr %116, align 8
  %117 = getelementptr inbounds nuw i8, ptr %112, i64 16
  %118 = load ptr, ptr %117, align 8
  br label %119

119:
  %120 = phi ptr [ %118, %110 ], [ null, %94 ]
  br i1 %8, label %126, label %121

121:
  %122 = getelementptr inbounds nuw i8, ptr %5, i64 176
  %123 = load ptr, ptr %122, align 8
  %124 = tail call ptr %123()
  %125 = ptrtoint ptr %124 to i64
  store i64 %125, ptr %6, align 8
  br label %126

126:
  ret ptr %120
}

define ptr @take(ptr %0, i64 %1, i64 %2, i64 %3) {
  %5 = load i64, ptr %0, align 8
  %6 = inttoptr i64 %5 to ptr
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = load i64, ptr %7, align 8
  %9 = icmp eq i64 %8, 0
  br i1 %9, label %14, label %10

10:
  %11 = getelementptr inbounds nuw i8, ptr %6, i64 184
  %12 = load ptr, ptr %11, align 8
  %13 = inttoptr i64 %8 to ptr
  tail call void %12(ptr %13)
  store i64 0, ptr %7, align 8
  br label %14

14:
  %15 = getelementptr inbounds nuw i8, ptr %6, i64 264
  %16 = getelementptr inbounds %struct.input_record, ptr %15, i64 %2
  %17 = getelementptr inbounds nuw i8, ptr %6, i64 24
  %18 = load i64, ptr %17, align 8
  %19 = mul i64 %18, 24
  %20 = getelementptr i8, ptr %0, i64 %19
  %21 = getelementptr i8, ptr %20, i64 40
  %22 = mul i64 %2, 24
  %23 = getelementptr i8, ptr %0, i64 %22
  %24 = getelementptr i8, ptr %23, i64 40
  %25 = load i64, ptr %24, align 8
  %26 = inttoptr i64 %25 to ptr
  %27 = load i64, ptr %16, align 8
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %55, label %29

29:
  %30 = getelementptr inbounds nuw i8, ptr %16, i64 8
  %31 = load i64, ptr %30, align 8
  %32 = inttoptr i64 %31 to ptr
  %33 = getelementptr %struct.input_record, ptr %15, i64 %18
  %34 = getelementptr %struct.input_record, ptr %33, i64 %1
  %35 = getelementptr inbounds nuw i8, ptr %34, i64 16
  %36 = load ptr, ptr %35, align 8
  %37 = icmp eq ptr %36, %32
  br i1 %37, label %38, label %55

38:
  %39 = getelementptr inbounds nuw i8, ptr %6, i64 32
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr ptr, ptr %21, i64 %40
  %42 = getelementptr ptr, ptr %41, i64 %2
  %43 = load ptr, ptr %42, align 8
  %44 = load i32, ptr %43, align 4
  %45 = icmp eq i32 %44, 2
  br i1 %45, label %46, label %55

46:
  %47 = getelementptr inbounds nuw i8, ptr %43, i64 64
  %48 = load i32, ptr %47, align 4
  %49 = and i32 %48, 1285
  %50 = icmp eq i32 %49, 1285
  br i1 %50, label %51, label %55

51:
  %52 = getelementptr inbounds nuw i8, ptr %6, i64 96
  %53 = load ptr, ptr %52, align 8
  tail call void %53(ptr %43)
  %54 = getelementptr inbounds ptr, ptr %21, i64 %1
  store ptr %43, ptr %54, align 8
  br label %86

55:
  %56 = getelementptr i8, ptr %23, i64 48
  %57 = load i64, ptr %56, align 8
  %58 = inttoptr i64 %57 to ptr
  %59 = tail call ptr @alloc_output(ptr %0, i64 %1, ptr %58)
  %60 = icmp eq ptr %59, null
  br i1 %60, label %86, label %61

61:
  %62 = icmp sgt i64 %3, 7
  br i1 %62, label %68, label %63

63:
  %64 = phi i64 [ %3, %61 ], [ %73, %68 ]
  %65 = phi ptr [ %59, %61 ], [ %74, %68 ]
  %66 = phi ptr [ %26, %61 ], [ %75, %68 ]
  %67 = icmp sgt i64 %64, 0
  br i1 %67, label %77, label %86

68:
  %69 = phi ptr [ %75, %68 ], [ %26, %61 ]
  %70 = phi ptr [ %74, %68 ], [ %59, %61 ]
  %71 = phi i64 [ %73, %68 ], [ %3, %61 ]
  %72 = load i64, ptr %69, align 1
  store i64 %72, ptr %70, align 1
  %73 = add nsw i64 %71, -8
  %74 = getelementptr inbounds nuw i8, ptr %70, i64 8
  %75 = getelementptr inbounds nuw i8, ptr %69, i64 8
  %76 = icmp samesign ugt i64 %71, 15
  br i1 %76, label %68, label %63

77:
  %78 = phi ptr [ %81, %77 ], [ %66, %63 ]
  %79 = phi ptr [ %83, %77 ], [ %65, %63 ]
  %80 = phi i64 [ %84, %77 ], [ %64, %63 ]
  %81 = getelementptr inbounds nuw i8, ptr %78, i64 1
  %82 = load i8, ptr %78, align 1
  %83 = getelementptr inbounds nuw i8, ptr %79, i64 1
  store i8 %82, ptr %79, align 1
  %84 = add nsw i64 %80, -1
  %85 = icmp samesign ugt i64 %80, 1
  br i1 %85, label %77, label %86

86:
  %87 = phi ptr [ %26, %51 ], [ null, %55 ], [ %59, %63 ], [ %59, %77 ]
  ret ptr %87
}

define i64 @poll(ptr %0) {
  %2 = load i64, ptr %0, align 8
  %3 = inttoptr i64 %2 to ptr
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %5 = load ptr, ptr %4, align 8
  %6 = tail call i64 %5()
  %7 = getelementptr inbounds nuw i8, ptr %3, i64 240
  %8 = load i64, ptr %7, align 8
  %9 = icmp eq i64 %6, %8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load i64, ptr %10, align 8
  %12 = icmp eq i64 %11, 0
  br i1 %12, label %18, label %13

13:
  br i1 %9, label %14, label %30

14:
  %15 = getelementptr inbounds nuw i8, ptr %3, i64 184
  %16 = load ptr, ptr %15, align 8
  %17 = inttoptr i64 %11 to ptr
  tail call void %16(ptr %17)
  store i64 0, ptr %10, align 8
  br label %19

18:
  br i1 %9, label %19, label %24

19:
  %20 = getelementptr inbounds nuw i8, ptr %3, i64 224
  %21 = load ptr, ptr %20, align 8
  %22 = tail call i32 %21()
  %23 = sext i32 %22 to i64
  br label %24

24:
  %25 = phi i64 [ %23, %19 ], [ 0, %18 ]
  %26 = getelementptr inbounds nuw i8, ptr %3, i64 176
  %27 = load ptr, ptr %26, align 8
  %28 = tail call ptr %27()
  %29 = ptrtoint ptr %28 to i64
  store i64 %29, ptr %10, align 8
  br label %30

30:
  %31 = phi i64 [ %25, %24 ], [ 0, %13 ]
  ret i64 %31
}

define ptr @entry(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = alloca i32, align 4
  %6 = alloca [384 x i64], align 16
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %8, i64 16
  %10 = load i64, ptr %9, align 8
  %11 = icmp ne i64 %2, %10
  %12 = icmp ne ptr %3, null
  %13 = or i1 %12, %11
  br i1 %13, label %441, label %14

14:
  %15 = getelementptr inbounds nuw i8, ptr %8, i64 24
  %16 = load i64, ptr %15, align 8
  %17 = shl i64 %16, 2
  %18 = add i64 %17, 5
  %19 = getelementptr inbounds nuw i8, ptr %8, i64 32
  %20 = load i64, ptr %19, align 8
  %21 = add i64 %18, %20
  %22 = icmp sgt i64 %21, 384
  br i1 %22, label %23, label %29

23:
  %24 = getelementptr inbounds nuw i8, ptr %8, i64 120
  %25 = load ptr, ptr %24, align 8
  %26 = shl i64 %21, 3
  %27 = tail call ptr %25(i64 %26)
  %28 = icmp eq ptr %27, null
  br i1 %28, label %441, label %29

29:
  %30 = phi ptr [ %27, %23 ], [ %6, %14 ]
  %31 = ptrtoint ptr %8 to i64
  store i64 %31, ptr %30, align 8
  %32 = load i64, ptr %15, align 8
  %33 = mul i64 %32, 24
  %34 = getelementptr i8, ptr %30, i64 %33
  %35 = getelementptr i8, ptr %34, i64 40
  %36 = load i64, ptr %19, align 8
  %37 = shl nsw i64 %36, 3
  %38 = getelementptr inbounds i8, ptr %35, i64 %37
  %39 = getelementptr inbounds nuw i8, ptr %8, i64 216
  %40 = load i64, ptr %39, align 8
  %41 = icmp slt i64 %40, 1
  br i1 %41, label %71, label %42

42:
  %43 = getelementptr inbounds nuw i8, ptr %8, i64 192
  %44 = getelementptr inbounds nuw i8, ptr %8, i64 208
  br label %45

45:
  %46 = phi i64 [ 0, %42 ], [ %66, %65 ]
  %47 = load ptr, ptr %43, align 8
  %48 = load ptr, ptr %44, align 8
  %49 = getelementptr inbounds nuw ptr, ptr %48, i64 %46
  %50 = load ptr, ptr %49, align 8
  %51 = tail call i32 %47(ptr %50, i32 0)
  %52 = icmp eq i32 %51, 0
  br i1 %52, label %53, label %65

53:
  %54 = icmp eq i64 %46, 0
  br i1 %54, label %433, label %55

55:
  %56 = getelementptr inbounds nuw i8, ptr %8, i64 200
  br label %57

57:
  %58 = phi i64 [ %46, %55 ], [ %61, %57 ]
  %59 = load ptr, ptr %56, align 8
  %60 = load ptr, ptr %44, align 8
  %61 = add nsw i64 %58, -1
  %62 = getelementptr inbounds nuw ptr, ptr %60, i64 %61
  %63 = load ptr, ptr %62, align 8
  tail call void %59(ptr %63)
  %64 = icmp samesign ugt i64 %58, 1
  br i1 %64, label %57, label %433

65:
  %66 = add nuw nsw i64 %46, 1
  %67 = load i64, ptr %39, align 8
  %68 = icmp slt i64 %66, %67
  br i1 %68, label %45, label %69

69:
  %70 = load i64, ptr %15, align 8
  br label %71

71:
  %72 = phi i64 [ %70, %69 ], [ %32, %29 ]
  %73 = icmp sgt i64 %72, 0
  br i1 %73, label %74, label %247

74:
  %75 = getelementptr inbounds nuw i8, ptr %8, i64 264
  %76 = getelementptr inbounds nuw i8, ptr %30, i64 40
  %77 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %78 = getelementptr inbounds nuw i8, ptr %8, i64 136
  %79 = getelementptr inbounds nuw i8, ptr %8, i64 144
  %80 = getelementptr inbounds nuw i8, ptr %8, i64 152
  %81 = getelementptr inbounds nuw i8, ptr %8, i64 160
  br label %82

82:
  %83 = phi i1 [ false, %74 ], [ %234, %233 ]
  %84 = phi ptr [ %76, %74 ], [ %239, %233 ]
  %85 = phi ptr [ %75, %74 ], [ %238, %233 ]
  %86 = phi i64 [ 0, %74 ], [ %237, %233 ]
  %87 = phi i64 [ 0, %74 ], [ %236, %233 ]
  %88 = load i64, ptr %85, align 8
  %89 = icmp eq i64 %88, 0
  %90 = getelementptr inbounds nuw i8, ptr %85, i64 8
  %91 = load i64, ptr %90, align 8
  br i1 %89, label %96, label %92

92:
  %93 = inttoptr i64 %91 to ptr
  %94 = getelementptr inbounds nuw i8, ptr %93, i64 24
  %95 = load ptr, ptr %94, align 8
  br label %98

96:
  %97 = getelementptr inbounds ptr, ptr %1, i64 %91
  br label %98

98:
  %99 = phi ptr [ %95, %92 ], [ %97, %96 ]
  %100 = load ptr, ptr %99, align 8
  %101 = getelementptr inbounds nuw i8, ptr %100, i64 8
  %102 = load ptr, ptr %101, align 8
  %103 = load ptr, ptr %77, align 8
  %104 = icmp eq ptr %102, %103
  br i1 %104, label %105, label %184

105:
  %106 = getelementptr inbounds nuw i8, ptr %100, i64 24
  %107 = load i32, ptr %106, align 4
  %108 = sext i32 %107 to i64
  %109 = getelementptr inbounds nuw i8, ptr %85, i64 32
  %110 = load i64, ptr %109, align 8
  %111 = icmp eq i64 %110, %108
  br i1 %111, label %112, label %417

112:
  %113 = getelementptr inbounds nuw i8, ptr %100, i64 64
  %114 = load i32, ptr %113, align 4
  %115 = and i32 %114, 257
  switch i32 %115, label %417 [
    i32 257, label %126
    i32 256, label %116
  ]

116:
  %117 = getelementptr inbounds nuw i8, ptr %85, i64 48
  %118 = load i64, ptr %117, align 8
  %119 = and i64 %118, 8
  %120 = icmp eq i64 %119, 0
  br i1 %120, label %417, label %121

121:
  %122 = and i64 %118, 2
  %123 = icmp eq i64 %122, 0
  %124 = select i1 %123, i64 8, i64 4
  %125 = call fastcc zeroext i1 @in_either_order(ptr %100, i64 %124)
  br i1 %125, label %126, label %417

126:
  %127 = getelementptr inbounds nuw i8, ptr %100, i64 56
  %128 = load ptr, ptr %127, align 8
  %129 = getelementptr inbounds nuw i8, ptr %85, i64 56
  %130 = load ptr, ptr %129, align 8
  %131 = icmp eq ptr %128, %130
  br i1 %131, label %146, label %132

132:
  %133 = getelementptr inbounds nuw i8, ptr %128, i64 28
  %134 = load i32, ptr %133, align 4
  %135 = sext i32 %134 to i64
  %136 = getelementptr inbounds nuw i8, ptr %128, i64 26
  %137 = load i8, ptr %136, align 2
  %138 = getelementptr inbounds nuw i8, ptr %85, i64 16
  %139 = load i64, ptr %138, align 8
  %140 = icmp eq i64 %139, %135
  br i1 %140, label %145, label %141

141:
  %142 = getelementptr inbounds nuw i8, ptr %85, i64 24
  %143 = load i64, ptr %142, align 8
  %144 = icmp eq i64 %143, %135
  br i1 %144, label %145, label %417

145:
  switch i8 %137, label %417 [
    i8 124, label %146
    i8 61, label %146
    i8 60, label %146
  ]

146:
  %147 = getelementptr inbounds nuw i8, ptr %100, i64 32
  %148 = load ptr, ptr %147, align 8
  %149 = getelementptr inbounds nuw i8, ptr %85, i64 40
  %150 = load ptr, ptr %149, align 8
  %151 = icmp sgt i32 %107, 0
  br i1 %151, label %152, label %171

152:
  %153 = icmp eq ptr %150, null
  br label %154

154:
  %155 = phi i64 [ 0, %152 ], [ %169, %165 ]
  %156 = phi i64 [ 1, %152 ], [ %168, %165 ]
  br i1 %153, label %165, label %157

157:
  %158 = getelementptr inbounds nuw i64, ptr %150, i64 %155
  %159 = load i64, ptr %158, align 8
  %160 = icmp sgt i64 %159, -1
  br i1 %160, label %161, label %165

161:
  %162 = getelementptr inbounds nuw i64, ptr %148, i64 %155
  %163 = load i64, ptr %162, align 8
  %164 = icmp eq i64 %159, %163
  br i1 %164, label %165, label %417

165:
  %166 = getelementptr inbounds nuw i64, ptr %148, i64 %155
  %167 = load i64, ptr %166, align 8
  %168 = mul i64 %167, %156
  %169 = add nuw nsw i64 %155, 1
  %170 = icmp eq i64 %169, %108
  br i1 %170, label %171, label %154

171:
  %172 = phi i64 [ 1, %146 ], [ %168, %165 ]
  %173 = getelementptr inbounds nuw i8, ptr %100, i64 16
  %174 = load i64, ptr %173, align 8
  store i64 %174, ptr %84, align 8
  %175 = ptrtoint ptr %148 to i64
  %176 = getelementptr inbounds nuw i8, ptr %84, i64 8
  store i64 %175, ptr %176, align 8
  %177 = getelementptr inbounds nuw i8, ptr %100, i64 40
  %178 = load i64, ptr %177, align 8
  %179 = getelementptr inbounds nuw i8, ptr %84, i64 16
  store i64 %178, ptr %179, align 8
  %180 = load i64, ptr %85, align 8
  %181 = icmp eq i64 %180, 0
  br i1 %181, label %233, label %182

182:
  %183 = getelementptr inbounds nuw ptr, ptr %38, i64 %86
  store ptr %100, ptr %183, align 8
  br label %233

184:
  %185 = getelementptr inbounds nuw i8, ptr %85, i64 48
  %186 = load i64, ptr %185, align 8
  %187 = getelementptr inbounds nuw ptr, ptr %38, i64 %86
  %188 = and i64 %186, 5
  %189 = icmp eq i64 %188, 0
  br i1 %189, label %223, label %190

190:
  %191 = and i64 %186, 2
  %192 = icmp ne i64 %191, 0
  %193 = load ptr, ptr %78, align 8
  %194 = icmp eq ptr %102, %193
  %195 = and i64 %186, 1
  %196 = icmp eq i64 %195, 0
  br i1 %196, label %205, label %197

197:
  br i1 %194, label %202, label %198

198:
  %199 = load ptr, ptr %79, align 8
  %200 = icmp ne ptr %102, %199
  %201 = or i1 %192, %200
  br i1 %201, label %205, label %202

202:
  %203 = getelementptr inbounds nuw i8, ptr %100, i64 16
  %204 = load double, ptr %203, align 8
  br label %221

205:
  %206 = load ptr, ptr %80, align 8
  %207 = icmp eq ptr %102, %206
  br i1 %207, label %208, label %223

208:
  %209 = load ptr, ptr %81, align 8
  %210 = call i64 %209(ptr %100, ptr %5)
  %211 = load i32, ptr %5, align 4
  %212 = icmp eq i32 %211, 0
  br i1 %212, label %213, label %223

213:
  br i1 %196, label %214, label %216

214:
  %215 = bitcast i64 %210 to double
  br label %224

216:
  %217 = add i64 %210, -9007199254740993
  %218 = icmp ult i64 %217, -18014398509481985
  br i1 %218, label %223, label %219

219:
  %220 = sitofp i64 %210 to double
  br label %221

221:
  %222 = phi double [ %204, %202 ], [ %220, %219 ]
  br i1 %192, label %226, label %224

223:
  br label %417

224:
  %225 = phi double [ %215, %214 ], [ %222, %221 ]
  store double %225, ptr %187, align 8
  br label %231

226:
  %227 = fptrunc double %222 to float
  store float %227, ptr %187, align 4
  %228 = fpext float %227 to double
  %229 = fcmp oeq double %222, %228
  %230 = select i1 %194, i1 true, i1 %229
  br i1 %230, label %231, label %417

231:
  %232 = ptrtoint ptr %187 to i64
  store i64 %232, ptr %84, align 8
  br label %233

233:
  %234 = phi i1 [ %83, %171 ], [ true, %182 ], [ %83, %231 ]
  %235 = phi i64 [ %172, %171 ], [ %172, %182 ], [ 1, %231 ]
  %236 = add i64 %235, %87
  %237 = add nuw nsw i64 %86, 1
  %238 = getelementptr inbounds nuw i8, ptr %85, i64 64
  %239 = getelementptr inbounds nuw i8, ptr %84, i64 24
  %240 = icmp eq i64 %237, %72
  br i1 %240, label %241, label %82

241:
  %242 = icmp sgt i64 %236, -1
  br i1 %242, label %243, label %417

243:
  br i1 %234, label %244, label %247

244:
  %245 = getelementptr inbounds nuw i8, ptr %8, i64 96
  %246 = load ptr, ptr %245, align 8
  call fastcc void @each_held(ptr %8, ptr %38, ptr %246)
  br label %247

247:
  %248 = phi i1 [ false, %243 ], [ true, %244 ], [ false, %71 ]
  %249 = phi i64 [ %236, %243 ], [ %236, %244 ], [ 0, %71 ]
  %250 = icmp sgt i64 %36, 0
  br i1 %250, label %251, label %255

251:
  %252 = phi ptr [ %253, %251 ], [ %35, %247 ]
  store ptr null, ptr %252, align 8
  %253 = getelementptr inbounds nuw i8, ptr %252, i64 8
  %254 = icmp ult ptr %253, %38
  br i1 %254, label %251, label %255

255:
  %256 = getelementptr inbounds nuw i8, ptr %30, i64 32
  store i64 0, ptr %256, align 8
  %257 = getelementptr inbounds nuw i8, ptr %30, i64 24
  store i64 0, ptr %257, align 8
  %258 = getelementptr inbounds nuw i8, ptr %30, i64 16
  store i64 0, ptr %258, align 8
  %259 = getelementptr inbounds nuw i8, ptr %30, i64 8
  store i64 0, ptr %259, align 8
  %260 = getelementptr inbounds nuw i8, ptr %8, i64 64
  %261 = load i64, ptr %260, align 8
  %262 = icmp eq i64 %261, 0
  br i1 %262, label %269, label %263

263:
  store i64 0, ptr %260, align 8
  %264 = add i64 %261, 71
  %265 = and i64 %264, -64
  store i64 %265, ptr %259, align 8
  %266 = inttoptr i64 %261 to ptr
  %267 = load i64, ptr %266, align 8
  %268 = add i64 %267, %261
  store i64 %268, ptr %258, align 8
  br label %269

269:
  %270 = icmp samesign ugt i64 %249, 16384
  br i1 %270, label %271, label %276

271:
  %272 = getelementptr inbounds nuw i8, ptr %8, i64 176
  %273 = load ptr, ptr %272, align 8
  %274 = call ptr %273()
  %275 = ptrtoint ptr %274 to i64
  store i64 %275, ptr %256, align 8
  br label %276

276:
  %277 = load ptr, ptr %8, align 8
  %278 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %279 = load ptr, ptr %278, align 8
  %280 = call i64 %277(ptr %30, ptr %279)
  %281 = load i64, ptr %256, align 8
  %282 = icmp eq i64 %281, 0
  br i1 %282, label %287, label %283

283:
  %284 = getelementptr inbounds nuw i8, ptr %8, i64 184
  %285 = load ptr, ptr %284, align 8
  %286 = inttoptr i64 %281 to ptr
  call void %285(ptr %286)
  store i64 0, ptr %256, align 8
  br label %287

287:
  %288 = load i64, ptr %257, align 8
  %289 = icmp eq i64 %288, 0
  br i1 %289, label %292, label %290

290:
  %291 = call fastcc i64 @larger_arena(ptr %8, ptr %30, i64 %261)
  br label %292

292:
  %293 = phi i64 [ %291, %290 ], [ %261, %287 ]
  %294 = icmp eq i64 %293, 0
  br i1 %294, label %302, label %295

295:
  %296 = load i64, ptr %260, align 8
  store i64 %293, ptr %260, align 8
  %297 = icmp eq i64 %296, 0
  br i1 %297, label %302, label %298

298:
  %299 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %300 = load ptr, ptr %299, align 8
  %301 = inttoptr i64 %296 to ptr
  call void %300(ptr %301)
  br label %302

302:
  br i1 %248, label %303, label %306

303:
  %304 = getelementptr inbounds nuw i8, ptr %8, i64 104
  %305 = load ptr, ptr %304, align 8
  call fastcc void @each_held(ptr %8, ptr %38, ptr %305)
  br label %306

306:
  %307 = icmp eq i64 %280, 0
  %308 = icmp eq i64 %280, -2
  %309 = or i1 %307, %308
  br i1 %307, label %310, label %411

310:
  %311 = getelementptr inbounds nuw i8, ptr %8, i64 40
  %312 = load i64, ptr %311, align 8
  %313 = load i64, ptr %19, align 8
  %314 = getelementptr inbounds nuw i8, ptr %8, i64 48
  %315 = load i64, ptr %314, align 8
  %316 = icmp eq i64 %315, 1
  br i1 %316, label %334, label %317

317:
  %318 = getelementptr inbounds nuw i8, ptr %8, i64 88
  %319 = load ptr, ptr %318, align 8
  %320 = call ptr %319(i64 %312)
  %321 = icmp eq ptr %320, null
  br i1 %321, label %322, label %323

322:
  call fastcc void @drop_outputs(ptr %8, ptr %35)
  br label %417

323:
  %324 = getelementptr inbounds nuw i8, ptr %320, i64 24
  %325 = load ptr, ptr %324, align 8
  %326 = icmp sgt i64 %312, 0
  br i1 %326, label %327, label %342

327:
  %328 = phi i64 [ %332, %327 ], [ 0, %323 ]
  %329 = getelementptr inbounds nuw ptr, ptr %35, i64 %328
  %330 = load ptr, ptr %329, align 8
  %331 = getelementptr inbounds nuw ptr, ptr %325, i64 %328
  store ptr %330, ptr %331, align 8
  %332 = add nuw nsw i64 %328, 1
  %333 = icmp eq i64 %332, %312
  br i1 %333, label %337, label %327

334:
  %335 = load ptr, ptr %35, align 8
  %336 = icmp sgt i64 %312, 0
  br i1 %336, label %337, label %342

337:
  %338 = phi ptr [ %335, %334 ], [ %320, %327 ]
  %339 = getelementptr inbounds nuw i8, ptr %8, i64 264
  %340 = getelementptr inbounds nuw i8, ptr %8, i64 96
  %341 = getelementptr inbounds nuw i8, ptr %8, i64 104
  br label %349

342:
  %343 = phi ptr [ %320, %323 ], [ %335, %334 ], [ %338, %368 ]
  %344 = icmp slt i64 %312, %313
  br i1 %344, label %345, label %417

345:
  %346 = getelementptr inbounds nuw i8, ptr %8, i64 264
  %347 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %348 = getelementptr inbounds nuw i8, ptr %8, i64 104
  br label %371

349:
  %350 = phi i64 [ 0, %337 ], [ %369, %368 ]
  %351 = load i64, ptr %15, align 8
  %352 = getelementptr %struct.input_record, ptr %339, i64 %351
  %353 = getelementptr %struct.input_record, ptr %352, i64 %350
  %354 = getelementptr inbounds nuw i8, ptr %353, i64 8
  %355 = load i64, ptr %354, align 8
  %356 = icmp eq i64 %355, 0
  br i1 %356, label %357, label %368

357:
  %358 = getelementptr inbounds nuw ptr, ptr %35, i64 %350
  %359 = load ptr, ptr %358, align 8
  %360 = getelementptr inbounds nuw i8, ptr %353, i64 32
  %361 = load ptr, ptr %360, align 8
  %362 = load ptr, ptr %340, align 8
  call void %362(ptr %359)
  %363 = getelementptr inbounds nuw i8, ptr %353, i64 24
  %364 = load ptr, ptr %363, align 8
  store ptr %364, ptr %360, align 8
  store ptr %359, ptr %363, align 8
  %365 = icmp eq ptr %361, null
  br i1 %365, label %368, label %366

366:
  %367 = load ptr, ptr %341, align 8
  call void %367(ptr %361)
  br label %368

368:
  %369 = add nuw nsw i64 %350, 1
  %370 = icmp eq i64 %369, %312
  br i1 %370, label %342, label %349

371:
  %372 = phi i64 [ %312, %345 ], [ %409, %408 ]
  %373 = load i64, ptr %15, align 8
  %374 = getelementptr %struct.input_record, ptr %346, i64 %373
  %375 = getelementptr %struct.input_record, ptr %374, i64 %372
  %376 = getelementptr inbounds ptr, ptr %35, i64 %372
  %377 = load ptr, ptr %376, align 8
  %378 = getelementptr inbounds nuw i8, ptr %375, i64 16
  %379 = load ptr, ptr %378, align 8
  %380 = getelementptr inbounds nuw i8, ptr %379, i64 24
  %381 = load ptr, ptr %380, align 8
  %382 = load ptr, ptr %381, align 8
  store ptr %377, ptr %381, align 8
  %383 = getelementptr inbounds nuw i8, ptr %375, i64 24
  %384 = load ptr, ptr %383, align 8
  %385 = icmp eq ptr %384, null
  br i1 %385, label %386, label %406

386:
  %387 = getelementptr inbounds nuw i8, ptr %382, i64 8
  %388 = load ptr, ptr %387, align 8
  %389 = load ptr, ptr %347, align 8
  %390 = icmp eq ptr %388, %389
  br i1 %390, label %391, label %406

391:
  %392 = load i32, ptr %382, align 4
  %393 = icmp eq i32 %392, 1
  br i1 %393, label %394, label %406

394:
  %395 = getelementptr inbounds nuw i8, ptr %382, i64 64
  %396 = load i32, ptr %395, align 4
  %397 = and i32 %396, 1285
  %398 = icmp eq i32 %397, 1285
  br i1 %398, label %399, label %406

399:
  %400 = getelementptr inbounds nuw i8, ptr %382, i64 56
  %401 = load ptr, ptr %400, align 8
  %402 = getelementptr inbounds nuw i8, ptr %377, i64 56
  %403 = load ptr, ptr %402, align 8
  %404 = icmp eq ptr %401, %403
  br i1 %404, label %405, label %406

405:
  store ptr %382, ptr %383, align 8
  br label %408

406:
  %407 = load ptr, ptr %348, align 8
  call void %407(ptr %382)
  br label %408

408:
  %409 = add i64 %372, 1
  %410 = icmp eq i64 %409, %313
  br i1 %410, label %417, label %371

411:
  call fastcc void @drop_outputs(ptr %8, ptr %35)
  %412 = icmp sgt i64 %280, -1
  %413 = or i1 %412, %308
  br i1 %413, label %417, label %414

414:
  %415 = getelementptr inbounds nuw i8, ptr %8, i64 168
  %416 = load ptr, ptr %415, align 8
  call void %416()
  br label %417

417:
  %418 = phi ptr [ null, %411 ], [ null, %414 ], [ %343, %408 ], [ null, %241 ], [ null, %322 ], [ %343, %342 ], [ null, %223 ], [ null, %161 ], [ null, %112 ], [ null, %145 ], [ null, %141 ], [ null, %116 ], [ null, %105 ], [ null, %226 ], [ null, %121 ]
  %419 = phi i1 [ %309, %411 ], [ %309, %414 ], [ %309, %408 ], [ false, %241 ], [ true, %322 ], [ %309, %342 ], [ false, %223 ], [ false, %161 ], [ false, %112 ], [ false, %145 ], [ false, %141 ], [ false, %116 ], [ false, %105 ], [ false, %226 ], [ false, %121 ]
  %420 = load i64, ptr %39, align 8
  %421 = icmp sgt i64 %420, 0
  br i1 %421, label %422, label %433

422:
  %423 = getelementptr inbounds nuw i8, ptr %8, i64 200
  %424 = getelementptr inbounds nuw i8, ptr %8, i64 208
  br label %425

425:
  %426 = phi i64 [ %420, %422 ], [ %429, %425 ]
  %427 = load ptr, ptr %423, align 8
  %428 = load ptr, ptr %424, align 8
  %429 = add nsw i64 %426, -1
  %430 = getelementptr inbounds nuw ptr, ptr %428, i64 %429
  %431 = load ptr, ptr %430, align 8
  call void %427(ptr %431)
  %432 = icmp samesign ugt i64 %426, 1
  br i1 %432, label %425, label %433

433:
  %434 = phi ptr [ %418, %425 ], [ null, %53 ], [ %418, %417 ], [ null, %57 ]
  %435 = phi i1 [ %419, %425 ], [ false, %53 ], [ %419, %417 ], [ false, %57 ]
  %436 = icmp eq ptr %30, %6
  br i1 %436, label %440, label %437

437:
  %438 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %439 = load ptr, ptr %438, align 8
  call void %439(ptr %30)
  br label %440

440:
  br i1 %435, label %447, label %441

441:
  %442 = getelementptr inbounds nuw i8, ptr %8, i64 112
  %443 = load ptr, ptr %442, align 8
  %444 = getelementptr inbounds nuw i8, ptr %8, i64 56
  %445 = load ptr, ptr %444, align 8
  %446 = call ptr %443(ptr %445, ptr %1, i64 %2, ptr %3)
  br label %447

447:
  %448 = phi ptr [ %446, %441 ], [ %434, %440 ]
  ret ptr %448
}

define internal fastcc void @each_held(ptr %0, ptr %1, ptr %2) {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i64, ptr %4, align 8
  %6 = icmp sgt i64 %5, 0
  br i1 %6, label %7, label %20

7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 264
  br label %9

9:
  %10 = phi i64 [ 0, %7 ], [ %18, %17 ]
  %11 = getelementptr inbounds nuw %struct.input_record, ptr %8, i64 %10
  %12 = load i64, ptr %11, align 8
  %13 = icmp eq i64 %12, 0
  br i1 %13, label %17, label %14

14:
  %15 = getelementptr inbounds nuw ptr, ptr %1, i64 %10
  %16 = load ptr, ptr %15, align 8
  tail call void %2(ptr %16)
  br label %17

17:
  %18 = add nuw nsw i64 %10, 1
  %19 = icmp eq i64 %18, %5
  br i1 %19, label %20, label %9

20:
  ret void
}

define internal fastcc void @drop_outputs(ptr %0, ptr %1) {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %4 = load i64, ptr %3, align 8
  %5 = icmp sgt i64 %4, 0
  br i1 %5, label %6, label %18

6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 104
  br label %8

8:
  %9 = phi i64 [ 0, %6 ], [ %16, %15 ]
  %10 = getelementptr inbounds nuw ptr, ptr %1, i64 %9
  %11 = load ptr, ptr %10, align 8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %15, label %13

13:
  %14 = load ptr, ptr %7, align 8
  tail call void %14(ptr %11)
  br label %15

15:
  %16 = add nuw nsw i64 %9, 1
  %17 = icmp eq i64 %16, %4
  br i1 %17, label %18, label %8

18:
  ret void
}

define ptr @calls_left() nounwind {
  ret ptr @calls
}

define ptr @counted_entry(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load ptr, ptr %5, align 8
  %7 = load i64, ptr @calls, align 8
  %8 = add i64 %7, -1
  store i64 %8, ptr @calls, align 8
  %9 = icmp sgt i64 %8, -1
  br i1 %9, label %10, label %17

10:
  %11 = getelementptr inbounds nuw i8, ptr %6, i64 256
  %12 = load i64, ptr %11, align 8
  %13 = add i64 %12, -1
  store i64 %13, ptr %11, align 8
  %14 = icmp sgt i64 %13, -1
  br i1 %14, label %15, label %17

15:
  %16 = tail call ptr @entry(ptr %0, ptr %1, i64 %2, ptr %3)
  br label %23

17:
  %18 = getelementptr inbounds nuw i8, ptr %6, i64 112
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds nuw i8, ptr %6, i64 56
  %21 = load ptr, ptr %20, align 8
  %22 = tail call ptr %19(ptr %21, ptr %1, i64 %2, ptr %3)
  br label %23

23:
  %24 = phi ptr [ %16, %15 ], [ %22, %17 ]
  ret ptr %24
}

define internal fastcc zeroext i1 @in_either_order(ptr %0, i64 %1) nounwind {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %6 = load ptr, ptr %5, align 8
  br label %7

7:
  %8 = phi i1 [ true, %2 ], [ false, %30 ]
  %9 = phi i64 [ 0, %2 ], [ 1, %30 ]
  %10 = xor i64 %9, 1
  %11 = getelementptr inbounds nuw i64, ptr %4, i64 %9
  %12 = load i64, ptr %11, align 8
  %13 = icmp slt i64 %12, 2
  br i1 %13, label %18, label %14

14:
  %15 = getelementptr inbounds nuw i64, ptr %6, i64 %9
  %16 = load i64, ptr %15, align 8
  %17 = icmp eq i64 %16, %1
  br i1 %17, label %18, label %29

18:
  %19 = getelementptr inbounds nuw i64, ptr %4, i64 %10
  %20 = load i64, ptr %19, align 8
  %21 = icmp slt i64 %20, 2
  br i1 %21, label %31, label %22

22:
  %23 = getelementptr inbounds nuw i64, ptr %6, i64 %10
  %24 = load i64, ptr %23, align 8
  %25 = mul i64 %12, %1
  %26 = icmp sge i64 %24, %25
  %27 = xor i1 %8, true
  %28 = or i1 %26, %27
  br i1 %28, label %31, label %30

29:
  br i1 %8, label %30, label %31

30:
  br label %7

31:
  %32 = phi i1 [ false, %29 ], [ true, %18 ], [ %26, %22 ]
  ret i1 %32
}

define internal fastcc i64 @larger_arena(ptr %0, ptr %1, i64 %2) {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %21, label %9

9:
  %10 = inttoptr i64 %7 to ptr
  br label %11

11:
  %12 = phi i64 [ %17, %11 ], [ 0, %9 ]
  %13 = phi ptr [ %14, %11 ], [ %10, %9 ]
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %16 = load i64, ptr %15, align 8
  %17 = add i64 %16, %12
  tail call void %5(ptr %13)
  %18 = icmp eq ptr %14, null
  br i1 %18, label %19, label %11

19:
  %20 = add i64 %17, 128
  br label %21

21:
  %22 = phi i64 [ 128, %3 ], [ %20, %19 ]
  %23 = icmp eq i64 %2, 0
  br i1 %23, label %27, label %24

24:
  %25 = inttoptr i64 %2 to ptr
  %26 = load i64, ptr %25, align 8
  br label %27

27:
  %28 = phi i64 [ %26, %24 ], [ 0, %21 ]
  %29 = add i64 %22, %28
  %30 = icmp sgt i64 %29, 67108864
  br i1 %30, label %53, label %31

31:
  %32 = load ptr, ptr %4, align 8
  %33 = inttoptr i64 %2 to ptr
  tail call void %32(ptr %33)
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %35 = load ptr, ptr %34, align 8
  %36 = tail call ptr %35(i64 %29)
  %37 = icmp eq ptr %36, null
  br i1 %37, label %53, label %38

38:
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %40 = load ptr, ptr %39, align 8
  %41 = icmp eq ptr %40, null
  %42 = icmp slt i64 %29, 4194304
  %43 = or i1 %42, %41
  %44 = ptrtoint ptr %36 to i64
  br i1 %43, label %52, label %45

45:
  %46 = add i64 %44, 4095
  %47 = and i64 %46, -4096
  %48 = inttoptr i64 %47 to ptr
  %49 = add i64 %29, %44
  %50 = sub i64 %49, %47
  %51 = tail call i32 %40(ptr %48, i64 %50, i32 14)
  br label %52

52:
  store i64 %29, ptr %36, align 8
  br label %53

53:
  %54 = phi i64 [ %2, %27 ], [ %44, %52 ], [ 0, %31 ]
  ret i64 %54
}

